#include "profiler/trace/trace_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sp::profiler {
namespace {

using core::Result;

constexpr std::uint32_t kIsPart = 1;

/// A bound of a function's time; the smallest number stands for none.
void put_bound(PayloadWriter& row, const std::optional<std::int64_t>& ns) {
  row.number(ns.value_or(std::numeric_limits<std::int64_t>::min()));
}

void keep_error(Result<void>& first_error, Result<void> written) {
  if (first_error && !written) {
    first_error = std::move(written);
  }
}

}  // namespace

TraceWriter::TraceWriter(ByteSink& sink)
    : container_(sink),
      strings_(container_, 0),
      processes_(container_, ChunkKind::processes, 0, strings_),
      threads_(container_, ChunkKind::threads, 0, strings_),
      modules_(container_, ChunkKind::modules, 0, strings_),
      functions_(container_, ChunkKind::functions, 0, strings_),
      clocks_(container_, ChunkKind::clocks, 0, strings_) {}

/// The empty chunk tells readers that the file is a trace, however early it is cut.
Result<void> TraceWriter::begin(const ContainerHeader& header) {
  if (auto written = container_.begin(header); !written) {
    return written;
  }
  return container_.add(ChunkKind::clocks, 0, {});
}

Result<void> TraceWriter::add_process(core::ProcessId process, core::ProcessId parent,
                                      std::string_view command) {
  PayloadWriter& row = processes_.row();
  row.number(process.pid);
  row.u32(process.serial);
  row.number(parent.pid);
  row.u32(parent.serial);
  row.u32(strings_.number(command));
  return processes_.end_row();
}

Result<void> TraceWriter::add_thread(std::uint32_t number, core::ThreadId thread,
                                     core::ProcessId process, std::string_view name,
                                     std::int64_t start_ns) {
  PayloadWriter& row = threads_.row();
  row.u32(number);
  row.number(thread.tid);
  row.u32(thread.serial);
  row.number(process.pid);
  row.u32(process.serial);
  row.u32(strings_.number(name));
  row.number(start_ns);
  return threads_.end_row();
}

Result<void> TraceWriter::add_module(std::uint32_t number, std::string_view path,
                                     std::string_view build_id, std::uint64_t base,
                                     core::ModuleKind kind) {
  PayloadWriter& row = modules_.row();
  row.u32(number);
  row.u32(static_cast<std::uint32_t>(kind));
  row.u32(0);  // not deleted
  row.u32(strings_.add(path));
  row.u32(strings_.add(build_id));
  row.number(std::int32_t{0});  // the process is not told
  row.u32(0);
  row.u32(0);
  row.u64(base);
  return modules_.end_row();
}

Result<void> TraceWriter::add_function(std::uint32_t number, const TraceFunction& function) {
  PayloadWriter& row = functions_.row();
  row.u32(number);
  row.u32(function.module);
  row.u64(function.offset);
  row.u64(function.size);
  row.u64(function.id);
  row.u32(function.is_part ? kIsPart : 0);
  row.u32(strings_.number(function.linkage_name));
  row.u32(strings_.number(function.name));
  row.u32(strings_.number(function.file));
  row.u32(function.line);
  row.u32(0);
  put_bound(row, function.since_ns);
  put_bound(row, function.until_ns);
  return functions_.end_row();
}

Result<void> TraceWriter::add_events(std::uint32_t thread, std::uint64_t first, std::uint64_t lost,
                                     std::span<const core::TraceEvent> events) {
  Result<void> first_error;
  TraceEvents& held = held_[thread];
  held.thread = thread;
  const bool goes_on = lost == 0 && first == held.first + held.events.size();
  if (!held.events.empty() && !goes_on) {
    keep_error(first_error, write(held));
  }
  if (held.events.empty()) {
    held.first = first;
    held.lost += lost;
  }
  while (!events.empty()) {
    const std::uint64_t count =
        std::min<std::uint64_t>(events.size(), kMostEventsInChunk - held.events.size());
    held.events.insert(held.events.end(), events.begin(),
                       events.begin() + static_cast<std::ptrdiff_t>(count));
    events_held_ += count;
    events = events.subspan(count);
    if (held.events.size() == kMostEventsInChunk) {
      keep_error(first_error, write(held));
    }
  }
  if (events_held_ >= kMostHeld) {
    keep_error(first_error, flush());
  }
  return first_error;
}

/// What cannot be written is lost, and the next chunk of the thread says so.
Result<void> TraceWriter::write(TraceEvents& held) {
  PayloadWriter payload;
  payload.u32(held.thread);
  payload.u32(0);
  payload.u64(held.first);
  payload.u64(held.lost);
  payload.u64(held.events.size());
  payload.column(std::span<const core::TraceEvent>(held.events));
  auto written = flush_tables();
  if (written) {
    written = container_.add(ChunkKind::events, 0, payload.bytes());
  }
  events_written_ += written ? held.events.size() : 0;
  held.lost = written ? 0 : held.lost + held.events.size();
  held.first += held.events.size();
  events_held_ -= held.events.size();
  held.events.clear();
  return written;
}

Result<void> TraceWriter::add_clock(std::uint64_t ticks, std::int64_t ns) {
  PayloadWriter& row = clocks_.row();
  row.u64(ticks);
  row.number(ns);
  return clocks_.end_row();
}

Result<void> TraceWriter::write_facts(std::string_view text, std::int64_t now_ns) {
  ++fact_sets_;
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kChunkSize))) {
    const auto part = std::span(text).first(std::min(text.size(), kChunkSize));
    if (auto written = container_.add(ChunkKind::facts, fact_sets_, std::as_bytes(part));
        !written) {
      return written;
    }
  }
  PayloadWriter end;
  end.number(now_ns);
  return container_.add(ChunkKind::set_end, fact_sets_, end.bytes());
}

Result<void> TraceWriter::flush_tables() {
  for (RowStream* const rows : {&processes_, &threads_, &modules_, &functions_, &clocks_}) {
    if (auto written = rows->flush(); !written) {
      return written;
    }
  }
  return {};
}

Result<void> TraceWriter::flush() {
  Result<void> first_error = flush_tables();
  for (auto& [thread, held] : held_) {
    if (!held.events.empty() || held.lost > 0) {
      keep_error(first_error, write(held));
      held.events.shrink_to_fit();
    }
  }
  return first_error;
}

Result<void> TraceWriter::finish() {
  if (auto written = flush(); !written) {
    return written;
  }
  return container_.finish();
}

}  // namespace sp::profiler
