// render_report TITLE [STACKS] [< stacks.folded] > report.html
//
// Writes the page of a folded file, or of so many made up stacks, so that browser tests need no
// run. The suffix _[l] of a name makes it a library's. The n-th sample is taken at n ms, by thread
// 1 or 2 in turn. Two blocks, two edges and the code of the first function are made up, too.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/html/html_report.h"

namespace {

using sp::profiler::RecordedFunction;
using Stack = std::pair<std::vector<std::uint32_t>, std::uint64_t>;

class Stacks final : public sp::profiler::StackSource {
 public:
  void read(std::istream& in) {
    for (std::string line; std::getline(in, line);) {
      const std::size_t blank = line.rfind(' ');
      if (blank != std::string::npos) {
        add(std::string_view(line).substr(0, blank), std::stoull(line.substr(blank + 1)));
      }
    }
  }
  /// Six levels deep, of 3,000 functions.
  void make_up(std::uint64_t count) {
    constexpr std::uint64_t kFanOut = 10;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string stack = "main";
      std::uint64_t prefix = 0;
      for (std::uint64_t scale = count / kFanOut; scale > 0; scale /= kFanOut) {
        prefix = prefix * kFanOut + i / scale % kFanOut;
        stack += ";function_" + std::to_string(prefix % 3000) + "_" +
                 std::to_string(i / scale % kFanOut);
      }
      add(stack, 1 + i % 3);
    }
  }

  [[nodiscard]] std::span<const RecordedFunction> functions() const override { return functions_; }
  void for_each(const Visit& visit) override {
    for (const auto& [frames, samples] : stacks_) {
      visit(frames, samples);
    }
  }

 private:
  void add(std::string_view text, std::uint64_t samples) {
    std::vector<std::uint32_t> frames;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(';'), text.size());
      frames.push_back(number(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    functions_[frames.back()].self_samples += samples;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const bool again = std::find(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(i),
                                   frames[i]) != frames.begin() + static_cast<std::ptrdiff_t>(i);
      functions_[frames[i]].total_samples += again ? 0 : samples;
    }
    stacks_.emplace_back(std::move(frames), samples);
  }

  std::uint32_t number(std::string_view name) {
    const bool library = name.ends_with("_[l]");
    name.remove_suffix(library ? 4 : 0);
    const auto [place, is_new] =
        numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(functions_.size()));
    if (is_new) {
      functions_.push_back({std::string(name),
                            library ? "/usr/lib/libexample.so.1" : "/usr/bin/example", "/src/a.c",
                            numbers_.size(), 0, 0});
    }
    return place->second;
  }

  std::vector<RecordedFunction> functions_;
  std::vector<Stack> stacks_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

sp::profiler::ReportTimeline timeline_of(Stacks& stacks) {
  constexpr std::size_t kMost = 1'000'000;
  sp::profiler::ReportTimeline timeline;
  timeline.threads = {{"main", 100, 100}, {"worker", 101, 100}};
  std::uint32_t stack = 0;
  stacks.for_each([&](std::span<const std::uint32_t>, std::uint64_t samples) {
    ++stack;
    for (std::uint64_t i = 0; i < samples && timeline.samples.size() < kMost; ++i) {
      const auto number = static_cast<std::int64_t>(timeline.samples.size());
      timeline.samples.push_back(
          {number * 1'000'000, 1, static_cast<std::uint32_t>(number % 2), stack, false});
    }
  });
  return timeline;
}

sp::profiler::RecordedCode made_up_code(const std::string& name) {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 53U) + 1;
  using sp::core::EdgeFlow;
  return {{"/usr/bin/example"},
          {"", "/src/a.c"},
          {{0, name, 0x1000}},
          {{0, 1, 7, 8, 3, 0x1000, 5, false, 0}, {0, 1, 9, 4, 2, 0x1008, kMany, true, 1}},
          {{0, 0, EdgeFlow::entry, 0x1000, 0x1000, 5, true, false, 0},
           {0, 0, EdgeFlow::taken, 0x100a, 0x1008, kMany, false, true, 1}},
          1,
          {"exact", "exact-until:0.500"}};
}

sp::profiler::ReportListing made_up_listing() {
  return {
      0,
      "5 samples in its code; hits: mixed",
      {"/src/a.c"},
      {{0, {{7, "  int sum = 0;"}, {8, ""}, {9, "  while (x < y) sum += x[i]; // </script>"}}}},
      {{0x1000, "push rbp", 0, 5, true, 0, 7},
       {0x1008, "add eax, 1", 5, (std::uint64_t{1} << 53U) + 1, true, 0, 9, "exact-until:0.500"},
       {0x100c, "ret", 0, {}, false, {}, 0}}};
}

}  // namespace

int main(int argc, char** argv) {
  Stacks stacks;
  if (argc > 2) {
    stacks.make_up(std::stoull(argv[2]));
  } else {
    stacks.read(std::cin);
  }
  sp::profiler::RecordedRun run;
  run.command = argc > 1 ? argv[1] : "example";
  run.elapsed_seconds = 1;
  stacks.for_each(
      [&](std::span<const std::uint32_t>, std::uint64_t samples) { run.samples += samples; });
  run.with_stack = run.on_cpu = run.samples;
  run.counts_kind = "mixed";
  run.modules = {{"/usr/bin/example", "file", "", 0}, {"/usr/lib/libexample.so.1", "file", "", 0}};
  const auto code = made_up_code(stacks.functions().empty() ? "" : stacks.functions()[0].name);
  const auto timeline = timeline_of(stacks);
  sp::profiler::HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  report.no_stacks = "no stacks here";
  if (!stacks.functions().empty()) {
    report.code = &code;
    report.timeline = &timeline;
    report.listings.push_back(made_up_listing());
  }
  report.facts = {{"Samples", "1,000 of " + run.command, "sampled"}};
  report.notes = {"a note of " + run.command};
  report.no_code = report.no_timeline = report.no_listings = "absent";
  sp::profiler::write_html_report(std::cout, report);
  return std::cout.good() ? 0 : 1;
}
