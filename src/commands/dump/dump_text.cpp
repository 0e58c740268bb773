#include "commands/dump/dump_text.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>
#include <string_view>

#include "profiler/formats/json_writer.h"
#include "profiler/formats/run_json.h"
#include "profiler/text.h"

namespace sp::dump {
namespace {

using profiler::folded_blanks;
using profiler::utf8_text;

std::string one_line(std::string_view text) { return folded_blanks(utf8_text(text)); }

std::string plural(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string_view state_name(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "uninterruptible";
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
    case 'X':
      return "ended";
    default:
      return "unknown";
  }
}

/// Why outer frames are missing; "" where none are.
std::string_view missing_frames(core::StackEnd end) {
  switch (end) {
    case core::StackEnd::root:
      return "";
    case core::StackEnd::copy_ended:
      return "only this much of the stack was copied";
    case core::StackEnd::no_unwind_info:
      return "code without unwind information";
    case core::StackEnd::bad_memory:
      return "the frames lead to unreadable memory";
    case core::StackEnd::too_deep:
      return "too many frames";
  }
  return "";
}

void write_call(std::ostream& out, std::size_t number, const NamedCall& call) {
  const std::string offset = call.offset ? fmt::format("+{:#x}", *call.offset) : "";
  const std::string place =
      call.inlined ? "inlined"
                   : fmt::format("{}+{:#x}", profiler::base_name(call.module), call.module_offset);
  out << fmt::format("  {:>4} {}{} ({})", fmt::format("#{}", number), one_line(call.function),
                     offset, one_line(place));
  if (call.source) {
    out << fmt::format(" {}:{}", one_line(call.source->file), call.source->line);
  }
  out << '\n';
}

void write_thread(std::ostream& out, const NamedThread& thread) {
  out << fmt::format("\nthread {} \"{}\" {}{}\n", thread.tid, one_line(thread.name),
                     state_name(thread.state),
                     thread.syscall.empty() ? "" : " in " + thread.syscall);
  std::size_t number = 0;
  for (const NamedCall& call : thread.calls) {
    write_call(out, number++, call);
  }
  if (!thread.has_stack && state_name(thread.state) != "ended") {
    out << "  no stack: it was neither asleep nor stopped in time\n";
  } else if (const auto missing = missing_frames(thread.end); !missing.empty()) {
    out << fmt::format("  ... outer frames are missing: {}\n", missing);
  }
}

void write_json_call(profiler::JsonWriter& json, const NamedCall& call) {
  json.begin_object();
  json.key("function").string(call.function);
  json.key("offset");
  call.offset ? json.number(*call.offset) : json.null();
  json.key("module").string(call.module);
  json.key("module_offset").number(call.module_offset);
  json.key("file");
  call.source ? json.string(call.source->file) : json.null();
  json.key("line");
  call.source ? json.number(call.source->line) : json.null();
  json.key("inlined").boolean(call.inlined);
  json.end_object();
}

}  // namespace

void write_text(std::ostream& out, const NamedDump& dump) {
  constexpr std::size_t kLongestCommand = 200;
  out << fmt::format("process {} {}: {}\n", dump.pid,
                     profiler::elided(one_line(dump.command), kLongestCommand),
                     plural(dump.threads.size(), "thread"));
  for (const NamedThread& thread : dump.threads) {
    write_thread(out, thread);
  }
}

void write_json(profiler::JsonWriter& json, const NamedDump& dump) {
  json.begin_object();
  json.key("pid").number(dump.pid);
  json.key("command").string(dump.command);
  json.key("stopped_threads").number(dump.stopped);
  json.key("stopped_us").number(core::microseconds(dump.stopped_for));
  json.key("threads").begin_array();
  for (const NamedThread& thread : dump.threads) {
    json.begin_object();
    json.key("tid").number(thread.tid);
    json.key("name").string(thread.name);
    json.key("state").string(state_name(thread.state));
    json.key("syscall");
    thread.syscall.empty() ? json.null() : json.string(thread.syscall);
    json.key("truncated_by");
    thread.end == core::StackEnd::root ? json.null() : json.string(profiler::word_of(thread.end));
    json.key("stack");
    if (thread.has_stack) {
      json.begin_array();
      for (const NamedCall& call : thread.calls) {
        write_json_call(json, call);
      }
      json.end_array();
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

std::string cost_text(const NamedDump& dump) {
  const std::size_t all = dump.threads.size();
  if (dump.stopped == 0) {
    return fmt::format("nothing was stopped: {} asleep", all == 1 ? "the thread is" : "all are");
  }
  const double ms = std::chrono::duration<double, std::milli>(dump.stopped_for).count();
  return fmt::format("stopped for {:.2f} ms: {} of {}{}", ms, dump.stopped, plural(all, "thread"),
                     dump.stopped < all ? "; who sleeps was not" : "");
}

}  // namespace sp::dump
