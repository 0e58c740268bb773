#include "profiler/html/report_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <string_view>

#include "profiler/formats/blocks_tsv.h"
#include "profiler/formats/flame_colours.h"
#include "profiler/recorded_profile.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// JavaScript's numbers are exact up to here; what is larger is a text.
constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 53U) - 1;
/// Longer names are cut: a page with a hundred kilobytes of template in each row is of no use.
constexpr std::size_t kLongestText = 2000;

/// One of each family of colours.
constexpr std::array kKinds{FunctionKind::executable, FunctionKind::library, FunctionKind::jit,
                            FunctionKind::blocked, FunctionKind::unknown};

std::string number(std::uint64_t value) {
  return value > kLargestNumber ? fmt::format("\"{}\"", value) : fmt::format("{}", value);
}

std::string text(std::string_view value) { return json_string(elided(value, kLongestText)); }

/// ["a","b"]
template <typename Items, typename Write>
void write_list(std::ostream& out, const Items& items, const Write& write) {
  out << '[';
  std::string_view between;
  for (const auto& item : items) {
    out << between;
    write(item);
    between = ",\n";
  }
  out << ']';
}

template <typename Texts>
void write_texts(std::ostream& out, const Texts& texts) {
  write_list(out, texts, [&](std::string_view one) { out << text(one); });
}

class HeadWriter {
 public:
  HeadWriter(std::ostream& out, const HtmlReport& report) : out_(out), report_(report) {}

  void write(std::uint64_t in_stacks) {
    const RecordedRun& run = *report_.run;
    out_ << "{\"command\":" << text(run.command) << ",\n\"summary\":" << text(summary())
         << ",\n\"samples\":" << number(run.samples) << ",\n\"large\":"
         << (std::max(in_stacks, run.samples) > kLargestNumber ? "true" : "false")
         << ",\n\"elapsed\":" << fmt::format("{:.6f}", run.elapsed_seconds) << ",\n\"facts\":";
    write_list(out_, report_.facts, [&](const ReportFact& fact) {
      out_ << '[' << text(fact.label) << ',' << text(fact.value) << ',' << text(fact.kind) << ']';
    });
    out_ << ",\n\"notes\":";
    write_texts(out_, report_.notes);
    write_words();
    write_colours();
    write_functions();
    write_code();
    write_timeline();
    out_ << ",\n\"listings\":";
    write_list(out_, report_.listings, [&](const ReportListing& one) { write_listing(one); });
    out_ << "}\n";
  }

 private:
  [[nodiscard]] std::string summary() const {
    const RecordedRun& run = *report_.run;
    return fmt::format(
        "{}; {}; {:.3f} s", run.sampling(),
        run.counts_kind.empty() ? "nothing was counted" : "counted: " + run.counts_kind,
        run.elapsed_seconds);
  }

  void write_words() {
    const auto rows = [&](std::size_t all, std::string_view what, std::string_view file) {
      return all <= kMostReportedCounts
                 ? std::string()
                 : fmt::format(" These are the {} most executed of {} {}; {} has all.",
                               grouped(kMostReportedCounts), grouped(all), what, file);
    };
    const RecordedCode* code = report_.code;
    const std::uint64_t stride = report_.timeline == nullptr ? 1 : report_.timeline->stride;
    out_ << ",\n\"absent\":{\"stacks\":" << text(report_.no_stacks)
         << ",\"code\":" << text(report_.no_code) << ",\"timeline\":" << text(report_.no_timeline)
         << ",\"listings\":" << text(report_.no_listings) << "},\n\"kinds\":{\"functions\":"
         << text(fmt::format("Self and total: {}. Calls: counted; their column says how.",
                             report_.run->sampling()))
         << ",\"blocks\":"
         << text("Hits: counted." + rows(code ? code->blocks.size() : 0, "blocks", "blocks.tsv"))
         << ",\"edges\":"
         << text("Hits: counted." + rows(code ? code->edges.size() : 0, "edges", "edges.tsv"))
         << ",\"timeline\":"
         << text(fmt::format(
                "{}: the square root of the samples in each pixel; orange is on a CPU, "
                "blue is blocked. Waits count where they were reported, mostly at their ends.{}",
                report_.run->sampling(),
                stride > 1
                    ? fmt::format(" One of {} samples is here with its time.", grouped(stride))
                    : ""))
         << ",\"listings\":"
         << text("Samples: sampled. Hits: of the block that begins there, counted.") << '}';
  }

  void write_colours() {
    out_ << ",\n\"colours\":{";
    for (const bool dark : {false, true}) {
      out_ << (dark ? ",\"dark\":{" : "\"light\":{");
      std::string_view between;
      for (const FunctionKind kind : kKinds) {
        const FlameFamily& family = family_of(kind);
        for (unsigned shade = 0; shade < kShades; ++shade) {
          out_ << between
               << fmt::format("\"{}{}\":\"{}\"", family.letter, shade,
                              shade_colour(family, shade, false, dark));
          between = ",";
        }
      }
      out_ << '}';
    }
    out_ << "},\n\"families\":";
    write_list(out_, kKinds, [&](FunctionKind kind) {
      const FlameFamily& family = family_of(kind);
      out_ << '[' << text(family.label) << ",\"" << family.letter << "\"]";
    });
  }

  void write_functions() {
    const auto functions = report_.stacks->functions();
    std::vector<std::string_view> modules;
    std::map<std::string_view, std::size_t> numbers;
    for (const RecordedFunction& function : functions) {
      if (numbers.try_emplace(function.module, modules.size()).second) {
        modules.push_back(function.module);
      }
    }
    out_ << ",\n\"modules\":";
    write_texts(out_, modules);
    out_ << ",\n\"functions\":";
    std::size_t at = 0;
    write_list(out_, functions, [&](const RecordedFunction& function) {
      const FunctionKind kind = kind_in_run(function, *report_.run);
      const std::size_t i = at++;
      const bool is_marker = i < report_.markers.size() ? report_.markers[i] : !has_row(kind);
      const bool is_row =
          !is_marker && (function.self_samples > 0 || function.total_samples > 0 || function.calls);
      out_ << '[' << text(function.name) << ',' << numbers[function.module] << ','
           << text(function.line > 0 ? fmt::format("{}:{}", function.file, function.line)
                                     : function.file)
           << ",\"" << colour_class(family_of(kind), function.name, false) << "\","
           << number(function.self_samples) << ',' << number(function.total_samples) << ','
           << (function.calls ? number(*function.calls) : "null") << ','
           << text(function.calls_kind) << ',' << (is_row ? "true" : "false") << ']';
    });
  }

  void write_code() {
    const RecordedCode* code = report_.code;
    if (code == nullptr) {
      out_ << ",\n\"code\":null";
      return;
    }
    out_ << ",\n\"code\":{\"modules\":";
    write_texts(out_, code->modules);
    out_ << ",\n\"files\":";
    write_texts(out_, code->files);
    out_ << ",\n\"kinds\":";
    write_texts(out_, code->kinds);
    out_ << ",\n\"flows\":";
    std::array<std::string_view, 7> flows;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      flows.at(i) = flow_word(static_cast<core::EdgeFlow>(i));
    }
    write_texts(out_, flows);
    out_ << ",\n\"functions\":";
    write_list(out_, code->functions, [&](const RecordedCode::Function& function) {
      out_ << '[' << text(function.name) << ',' << function.module << ',' << number(function.start)
           << ']';
    });
    out_ << '}';
  }

  void write_timeline() {
    if (report_.timeline == nullptr) {
      out_ << ",\n\"timeline\":null";
      return;
    }
    out_ << fmt::format(",\n\"timeline\":{{\"samples\":{},\"stride\":{},\"threads\":",
                        report_.timeline->samples.size(), report_.timeline->stride);
    write_list(out_, report_.timeline->threads, [&](const ReportThread& thread) {
      out_ << "{\"name\":" << text(thread.name)
           << fmt::format(",\"tid\":{},\"pid\":{}}}", thread.tid, thread.pid);
    });
    out_ << '}';
  }

  void write_listing(const ReportListing& listing) {
    const RecordedFunction& function = report_.stacks->functions()[listing.function];
    std::uint64_t samples = 0;
    for (const ReportInstruction& row : listing.instructions) {
      samples += row.samples;
    }
    out_ << "{\"function\":" << listing.function << ",\"name\":" << text(function.name)
         << ",\"module\":" << text(function.module) << ",\"about\":" << text(listing.about)
         << ",\"samples\":" << number(samples) << ",\n\"files\":";
    write_texts(out_, listing.files);
    out_ << ",\n\"lines\":{";
    std::string_view between;
    for (const ReportListing::Source& source : listing.sources) {
      out_ << between << fmt::format("\"{}\":{{", source.file);
      std::string_view between_lines;
      for (const auto& [line, source_text] : source.lines) {
        out_ << between_lines << fmt::format("\"{}\":", line) << text(source_text);
        between_lines = ",";
      }
      out_ << '}';
      between = ",\n";
    }
    out_ << "},\n\"rows\":";
    write_list(out_, listing.instructions, [&](const ReportInstruction& row) {
      out_ << fmt::format("[\"{:x}\",", row.address) << text(row.text) << ',' << number(row.samples)
           << ',' << (row.hits ? number(*row.hits) : "null") << ','
           << (row.executed ? "true" : "false") << ','
           << (row.file ? static_cast<std::int64_t>(*row.file) : -1) << ',' << row.line << ','
           << text(row.kind) << ']';
    });
    out_ << '}';
  }

  std::ostream& out_;
  const HtmlReport& report_;
};

}  // namespace

void write_report_head(std::ostream& out, const HtmlReport& report, std::uint64_t in_stacks) {
  HeadWriter(out, report).write(in_stacks);
}

}  // namespace sp::profiler
