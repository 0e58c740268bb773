#include "profiler/formats/perf_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// One line: what reads it splits at blanks around names only.
std::string line_of(std::string_view text) { return folded_blanks(utf8_text(text)); }

/// The lines of the places' frames; each is made when it is needed.
class FrameLines {
 public:
  explicit FrameLines(const RecordingReader& recording)
      : recording_(recording), lines_(recording.places().size()) {}

  [[nodiscard]] const std::string& of(std::uint32_t place) {
    std::string& lines = lines_[place];
    if (lines.empty()) {
      lines = made(place);
    }
    return lines;
  }

 private:
  [[nodiscard]] std::string made(std::uint32_t number) const {
    const RecordingPlace& place = recording_.places()[number];
    const auto names = recording_.names_of(number);
    switch (place.kind) {
      case StepKind::instruction:
      case StepKind::return_address:
        return code(place, names);
      case StepKind::blocked:
        return fmt::format("\t               0 [blocked: {}] ([kernel])\n",
                           line_of(recording_.text(static_cast<std::uint32_t>(place.value))));
      case StepKind::truncated:
        return "\t               0 [truncated] ([unknown])\n";
      case StepKind::collapsed:
        return "\t               0 [collapsed: too many distinct stacks] ([superprofiler])\n";
      case StepKind::thread:
        break;  // COMM and TID say it
    }
    return "";
  }

  [[nodiscard]] std::string code(const RecordingPlace& place,
                                 std::span<const RecordingName> names) const {
    const RecordingModule* module = recording_.module(place.module);
    const std::string path = module == nullptr ? "[unknown]" : line_of(module->path);
    const bool has_base = module != nullptr && (module->kind == core::ModuleKind::file ||
                                                module->kind == core::ModuleKind::vdso);
    const std::uint64_t address = place.value + (has_base ? module->base : 0);
    if (names.empty()) {
      return fmt::format("\t{:16x} [unknown] ({})\n", address, path);
    }
    std::string lines;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      const std::string function = line_of(recording_.functions()[name->function].name);
      lines += name->inlined ? fmt::format("\t{:16x} {} (inlined)\n", address, function)
                             : fmt::format("\t{:16x} {}+{:#x} ({})\n", address, function,
                                           place.value - std::min(name->start, place.value), path);
    }
    return lines;
  }

  const RecordingReader& recording_;
  std::vector<std::string> lines_;  // by place
};

std::string comm_of(const RecordingThread& thread) {
  const std::string name = line_of(thread.name);
  return name.empty() ? fmt::format(":{}", thread.id.tid) : name;
}

}  // namespace

void write_perf_script(std::ostream& out, const RecordedRun& run, RecordingReader& recording) {
  const std::uint64_t period =
      std::max<std::uint64_t>(run.ns_per_sample(), 1) * recording.samples().stride;
  FrameLines lines(recording);
  recording.for_each_sample([&](const RecordingSample& sample) {
    const RecordingThread thread = sample.thread < recording.threads().size()
                                       ? recording.threads()[sample.thread]
                                       : RecordingThread{};
    const std::int64_t us = (recording.header().monotonic_ns + sample.time_ns) / 1000;
    out << fmt::format("{} {}/{} {}.{:06}: {:10} {}: \n", comm_of(thread), thread.process.pid,
                       thread.id.tid, us / 1'000'000, us % 1'000'000, period * sample.weight,
                       sample.kind == core::SampleKind::on_cpu ? "cpu-clock" : "off-cpu");
    for (std::uint32_t node = sample.node; node > Profile::kPcOnlyRoot;
         node = recording.nodes()[node].parent) {
      out << lines.of(recording.nodes()[node].place);
    }
    out << '\n';
  });
}

}  // namespace sp::profiler
