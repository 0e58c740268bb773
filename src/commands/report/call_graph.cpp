#include "commands/report/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "commands/report/trace_text.h"
#include "profiler/text.h"

namespace sp::report {
namespace {

using profiler::TracedCall;

constexpr std::size_t kLongestInGraph = 100;
constexpr std::uint32_t kDeepestIndent = 100;

/// " /* unwound */" behind what has not returned.
std::string closing_note(const TracedCall& call) {
  return call.closing == profiler::TraceClosing::returned
             ? ""
             : fmt::format(" /* {} */", word(call.closing));
}

}  // namespace

void CallGraphText::write_heading() {
  out_ << fmt::format("# {:>12} {:>10}   FUNCTION\n", "DURATION", "TID");
}

void CallGraphText::begin(const TracedCall& call) {
  open_last();
  last_ = call;
}

void CallGraphText::end(const TracedCall& call) {
  const std::string duration =
      duration_text(static_cast<std::uint64_t>(std::max<std::int64_t>(call.duration_ns(), 0)));
  const bool is_leaf = last_ && last_->thread == call.thread && last_->stack == call.stack;
  if (is_leaf) {
    last_.reset();
    write_line(call, duration, name_of(call.function) + ";" + closing_note(call));
    return;
  }
  open_last();
  write_line(call, duration,
             fmt::format("}} /* {}{} */", name_of(call.function),
                         call.closing == profiler::TraceClosing::returned
                             ? ""
                             : fmt::format(", {}", word(call.closing))));
}

void CallGraphText::open_last() {
  if (last_) {
    write_line(*last_, "", name_of(last_->function) + " {");
    last_.reset();
  }
}

void CallGraphText::write_line(const TracedCall& call, const std::string& duration,
                               const std::string& text) {
  const auto track = tracks_.find({call.thread, call.stack});
  const std::uint32_t indent = 2 * std::min(call.depth, kDeepestIndent);
  out_ << fmt::format("{:>14} [{:>8}] | {}{}\n", duration,
                      track == tracks_.end() ? 0 : track->second.tid, std::string(indent, ' '),
                      text);
}

const std::string& CallGraphText::name_of(std::uint32_t function) {
  const auto [place, is_new] = names_.try_emplace(function);
  if (is_new) {
    std::string name = profiler::elided(
        profiler::folded_blanks(profiler::utf8_text(trace_function_name(trace_, function))),
        kLongestInGraph);
    name += name.find('(') == std::string::npos ? "()" : "";
    place->second = std::move(name);
  }
  return place->second;
}

}  // namespace sp::report
