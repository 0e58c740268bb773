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
    const std::string text = text_of(*last_);
    last_.reset();
    write_line(call, duration, text + ";" + closing_note(call));
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
    write_line(*last_, "", text_of(*last_) + " {");
    last_.reset();
  }
}

void CallGraphText::note(const profiler::TracedEvent& event) {
  open_last();
  write_line(
      {event.thread, event.stack}, event.depth, "",
      fmt::format("/* {}: {} */", profiler::event_name(event.event),
                  profiler::elided(profiler::folded_blanks(profiler::event_data(event.event)),
                                   kLongestInGraph)));
}

/// What is no small number is an address, more often than not.
std::string CallGraphText::text_of(const TracedCall& call) {
  const std::string& name = name_of(call.function);
  if (!call.argument) {
    return name;
  }
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 32U;
  const std::string argument = *call.argument < kLarge ? fmt::format("{}", *call.argument)
                                                       : fmt::format("0x{:x}", *call.argument);
  return name.ends_with("()") ? name.substr(0, name.size() - 1) + argument + ")"
                              : fmt::format("{} [{}]", name, argument);
}

void CallGraphText::write_line(const Track& of, std::uint32_t depth, const std::string& duration,
                               const std::string& text) {
  const auto track = tracks_.find(of);
  const std::uint32_t indent = 2 * std::min(depth, kDeepestIndent);
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
