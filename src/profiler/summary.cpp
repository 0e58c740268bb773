#include "profiler/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/copies_text.h"
#include "profiler/coverage_text.h"
#include "profiler/describe.h"
#include "profiler/terminal_text.h"
#include "profiler/text.h"
#include "profiler/trace_text.h"
#include "profiler/tree/tree_text.h"

namespace sp::profiler {
namespace {

class SummaryWriter {
 public:
  SummaryWriter(const core::RunFacts& facts, const WrittenRun& run, const SummaryStyle& style)
      : facts_(facts), run_(run), style_(style), out_(style.columns, style.colour) {}

  std::string run() {
    what();
    for (const std::string& text : crash_texts(run_.crashes)) {
      out_.paragraph(out_.warning(text));
    }
    const bool counted_alone = run_.code && !run_.code->by_probes;
    if (counted_alone) {
      blocks();
    } else if (run_.counts.total() == 0) {
      nothing_seen();
    }
    if (run_.counts.total() > 0) {
      functions();
    }
    if (run_.code && run_.code->by_probes) {
      probes();
    }
    if (run_.tree) {
      out_.paragraph(tree_text(*run_.tree));
    } else if (facts_.trace) {
      out_.paragraph(trace_text(*facts_.trace, run_.unwritten_events, run_.cleared_events,
                                run_.trace_is_full));
    }
    if (run_.coverage) {
      out_.paragraph(coverage_text(*run_.coverage, run_.lines));
    }
    cost();
    losses();
    notes();
    files();
    return out_.text();
  }

 private:
  void what() {
    const bool only_counted = run_.code && !run_.code->by_probes && run_.counts.total() == 0;
    std::string text =
        only_counted ? counting_text(*run_.code) : sampling_text(facts_, run_.counts, run_.wall);
    text += fmt::format("; {} in {} {}", duration_text(facts_.elapsed), grouped(facts_.threads),
                        facts_.threads == 1 ? "thread" : "threads");
    if (facts_.processes > 1) {
      text += fmt::format(" of {} processes", grouped(facts_.processes));
    }
    out_.paragraph(out_.bold(text));
  }

  [[nodiscard]] static std::string counting_text(const WrittenCode& code) {
    return fmt::format("exact ({} instructions in {} executions of {} blocks, {} edges)",
                       grouped(code.instructions), grouped(code.executions), grouped(code.blocks),
                       grouped(code.edges));
  }

  void blocks() {
    if (run_.counts.total() > 0) {
      out_.paragraph(out_.bold(counting_text(*run_.code)));
    }
    block_rows();
  }

  void block_rows() {
    out_.line(out_.bold("           hits  instr  block"));
    const std::size_t rows = std::min(style_.functions, run_.code->top.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const WrittenCode::Block& row = run_.code->top[i];
      const std::string numbers = fmt::format("{:>15} {:6}  ", grouped(row.hits), row.instructions);
      out_.line(numbers + place(row, numbers.size()));
    }
  }

  /// Samples of the whole run beside hits that may cover a part of it.
  void probed_block_rows() {
    out_.line(out_.bold("  self %        hits  counted        block"));
    const auto all = static_cast<double>(std::max<std::uint64_t>(run_.counts.total(), 1));
    const std::size_t rows = std::min(style_.functions, run_.code->top.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const WrittenCode::Block& row = run_.code->top[i];
      const std::string numbers =
          fmt::format("{:8.2f} {:>11}  {:<13}  ", 100 * static_cast<double>(row.samples) / all,
                      grouped(row.hits), row.span);
      out_.line(numbers + place(row, numbers.size()));
    }
    out_.paragraph(
        "(self %: samples of the whole run; hits: exact, over the time under \"counted\")");
  }

  void probes() {
    if (!run_.code->top.empty()) {
      probed_block_rows();
    }
    if (!facts_.probing || facts_.probing->planted == 0) {
      return;
    }
    const core::Probing& probing = *facts_.probing;
    out_.paragraph(probes_text(probing));
    if (const std::string copies = copies_text(probing.copying); !copies.empty()) {
      out_.paragraph(copies);
    }
  }

  /// "function+0x12  file.c:7", or the module if the line is unknown; cut to the columns left after
  /// `used`.
  [[nodiscard]] std::string place(const WrittenCode::Block& row, std::size_t used) const {
    constexpr std::size_t kShortestName = 8;
    constexpr std::size_t kShortestSource = 6;
    constexpr std::size_t kLongestSource = 20;
    const std::size_t columns = std::max<std::size_t>(style_.columns, 64);
    const std::size_t room = columns - std::min(used, columns - kShortestName);
    std::string_view where = base_name(row.source.empty() ? row.module : row.source);
    if (row.source.empty() && row.function.starts_with(std::string(where) + "+0x")) {
      where = {};  // the name contains it already
    }
    std::string suffix = row.offset == 0 ? "" : fmt::format("+{:#x}", row.offset);
    const std::size_t needed = suffix.size() + kShortestName + 2;
    if (!where.empty() && needed + kShortestSource <= room) {
      suffix += "  " + elided(folded_name(where), std::min(kLongestSource, room - needed));
    }
    const std::size_t taken = std::min(count_code_points(suffix), room - 1);
    return elided(folded_name(row.function), room - taken) + suffix;
  }

  void nothing_seen() {
    out_.line(
        run_.wall
            ? "No sample was taken: the target ran for too short a time."
            : "No sample was taken: the target ran for too short a time, or waited all the time.");
    out_.line("Try a smaller interval (-i 10), a longer run" +
              std::string(run_.wall ? "." : ", or --wall to see where it waits."));
  }

  void functions() {
    out_.line(out_.bold("  self %  total %  function"));
    const auto all = static_cast<double>(run_.counts.total());
    const auto stacks = static_cast<double>(run_.counts.with_stack);
    const std::size_t rows = std::min(style_.functions, run_.top.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const Function& row = run_.top[i];
      const double self = 100 * static_cast<double>(row.self) / all;
      const double total = stacks > 0 ? 100 * static_cast<double>(row.total) / stacks : 0;
      out_.line(fmt::format("{:8.2f} {:8.2f}  {}", self, total, place(row)));
    }
  }

  /// "function  module", cut to the rest of the line.
  [[nodiscard]] std::string place(const Function& row) const {
    const std::size_t room = std::max<std::size_t>(style_.columns, 50) - 19;
    const std::string whole = folded_name(row.name);
    if (whole.starts_with(std::string(base_name(row.module)) + "+0x")) {
      return elided(whole, room);  // it names its module already
    }
    const std::string module = elided(folded_name(base_name(row.module)), 24);
    const std::size_t taken = row.module.empty() ? 0 : count_code_points(module) + 2;
    const std::string name = elided(folded_name(row.name), room - taken);
    return row.module.empty() ? name : name + "  " + module;
  }

  void cost() {
    const core::Cost& cost = facts_.cost;
    if (!cost.is_share_known) {
      out_.paragraph(fmt::format(
          "cost: {} {} in {}: counting by breakpoints slows a program down 10 to 1,000 "
          "times, so its times are not those of a normal run",
          grouped(cost.stops), cost.stops == 1 ? "stop" : "stops", duration_text(facts_.elapsed)));
      return;
    }
    std::string text = fmt::format("cost: {} {}, {} stopped", grouped(cost.stops),
                                   cost.stops == 1 ? "stop" : "stops", duration_text(cost.stopped));
    if (facts_.probing && facts_.probing->cost.count() > 0) {
      text += fmt::format(" ({} of it by probes)", duration_text(facts_.probing->cost));
    }
    if (cost.counting.count() > 0) {
      text += fmt::format(", {} spent on counting in copies", duration_text(cost.counting));
    }
    text += fmt::format(", longest pause {}; {} of {} on-CPU", duration_text(cost.longest_stop),
                        overhead_text(cost), duration_text(cost.target_cpu));
    text += cost.budget_percent > 0 ? fmt::format(" (budget {:g} %)", cost.budget_percent)
                                    : std::string(" (no budget)");
    out_.paragraph(text);
  }

  void losses() {
    const SampleCounts& counts = run_.counts;
    const auto say = [this](std::uint64_t number, std::string_view what) {
      if (number > 0) {
        out_.paragraph(out_.warning(fmt::format("{} {}", grouped(number), what)));
      }
    };
    if (counts.truncated > 0) {
      out_.paragraph(out_.warning(fmt::format(
          "{} stacks ({}) are truncated: their outer frames are missing", grouped(counts.truncated),
          percent_text(static_cast<double>(counts.truncated),
                       static_cast<double>(counts.with_stack)))));
    }
    say(std::max(facts_.losses.samples_dropped, counts.lost),
        "samples were lost: they came faster than they could be read");
    say(facts_.losses.unfollowed_processes,
        "processes, and their children, were not followed: superprofiler may not open more files "
        "(ulimit -Hn)");
    if (run_.code) {
      say(run_.code->lost_hits,
          run_.code->by_probes
              ? "hits of blocks and edges are not in the files: there were too many distinct ones"
              : "hits of edges are not in the files: there were too many distinct edges");
      say(run_.code->consistency.disagreeing,
          "blocks disagree: they were entered and left at different counts");
    }
    say(counts.collapsed,
        "samples are counted at an outer frame: there were too many distinct stacks");
  }

  void notes() {
    for (const std::string& note : facts_.notes) {
      out_.paragraph("note: " + note);
    }
  }

  void files() {
    for (const core::Error& failure : run_.failures) {
      out_.paragraph(out_.warning("could not write: " + failure.message()));
    }
    if (!run_.fallback_directory.empty()) {
      out_.paragraph(
          out_.warning("these files were written to " + run_.fallback_directory + " instead"));
    }
    const bool has_results = std::any_of(
        run_.files.begin(), run_.files.end(),
        [this](const WrittenFile& file) { return file.path == run_.directory + "/" + file.name; });
    if (has_results) {
      out_.line(out_.bold("results: ") + run_.directory + part_text(facts_));
    }
    if (const std::string command = next_command(); !command.empty()) {
      out_.line(out_.bold("next: ") + command);
    }
  }

  /// What most users do next with such a run.
  [[nodiscard]] std::string next_command() const {
    const auto file = [this](std::string_view name) {
      const auto found = std::find_if(run_.files.begin(), run_.files.end(),
                                      [&](const WrittenFile& f) { return f.name == name; });
      return found == run_.files.end() ? nullptr : &*found;
    };
    if (const WrittenFile* picture = file("flamegraph.svg")) {
      return "xdg-open " + command_text({picture->path});
    }
    if (facts_.trace && !run_.tree && run_.failures.empty()) {
      return command_text({"superprofiler", "report", "--trace", run_.directory});
    }
    if (run_.coverage && run_.failures.empty()) {
      return command_text({"superprofiler", "coverage", run_.directory});
    }
    if (!run_.files.empty() && run_.failures.empty() && run_.code &&
        !run_.code->hottest_function.empty()) {
      return command_text(
          {"superprofiler", "annotate", run_.directory, run_.code->hottest_function});
    }
    const WrittenFile* stacks = file("stacks.folded");
    if (stacks != nullptr && run_.counts.with_stack > 0) {
      return "flamegraph.pl " + command_text({stacks->path}) +
             " > flamegraph.svg (or run again with --flame)";
    }
    return "";
  }

  const core::RunFacts& facts_;
  const WrittenRun& run_;
  const SummaryStyle& style_;
  TerminalText out_;
};

}  // namespace

std::string summary_text(const core::RunFacts& facts, const WrittenRun& run,
                         const SummaryStyle& style) {
  return SummaryWriter(facts, run, style).run();
}

}  // namespace sp::profiler
