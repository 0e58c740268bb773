#include "profiler/trace/trace_reader.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "profiler/profile.h"
#include "profiler/recording/payload.h"

namespace sp::profiler {
namespace {

using TracePayload = std::span<const std::byte>;

constexpr std::size_t kMostTraceFunctions = std::size_t{1} << 22U;
constexpr std::size_t kMostTraceModules = std::size_t{1} << 20U;
constexpr std::size_t kMostClockPairs = std::size_t{1} << 22U;
constexpr std::size_t kMostFacts = std::size_t{1} << 28U;

std::optional<std::int64_t> trace_bound(PayloadReader& in) {
  const auto ns = in.number<std::int64_t>();
  return ns == std::numeric_limits<std::int64_t>::min() ? std::nullopt : std::optional(ns);
}

TraceFunction read_trace_function(PayloadReader& in, const Texts& texts) {
  TraceFunction row;
  row.module = in.u32();
  row.offset = in.u64();
  row.size = in.u64();
  row.id = in.u64();
  row.is_part = (in.u32() & 1U) != 0;
  row.linkage_name = texts[in.u32()];
  row.name = texts[in.u32()];
  row.file = texts[in.u32()];
  row.line = in.u32();
  (void)in.u32();
  row.since_ns = trace_bound(in);
  row.until_ns = trace_bound(in);
  return row;
}

bool add_trace_modules(TracePayload payload, const Texts& texts,
                       std::unordered_map<std::uint32_t, RecordingModule>& modules) {
  std::vector<NumberedModule> rows;
  const bool is_good = read_modules(payload, texts, rows);
  for (const NumberedModule& row : rows) {
    modules.insert_or_assign(row.id, row.module);
  }
  return is_good && modules.size() <= kMostTraceModules;
}

bool add_clock_pairs(TracePayload payload, std::vector<TraceClockPair>& pairs) {
  PayloadReader in(payload);
  while (in.has_more()) {
    const std::uint64_t ticks = in.u64();
    pairs.push_back({ticks, in.number<std::int64_t>()});
  }
  return in.ok() && pairs.size() <= kMostClockPairs;
}

/// A chunk of events. False if it is damaged.
bool read_trace_events(TracePayload payload, TraceEvents& chunk) {
  PayloadReader in(payload);
  chunk.thread = in.u32();
  (void)in.u32();
  chunk.first = in.u64();
  chunk.lost = in.u64();
  chunk.events = in.column<core::TraceEvent>(in.u64());
  return in.ok() && !in.has_more() && chunk.thread <= Profile::kMaxThreads;
}

std::uint64_t first_time(const std::vector<core::TraceEvent>& events) {
  const auto first = std::find_if(events.begin(), events.end(), [](const core::TraceEvent& event) {
    return is_timed(event.kind());
  });
  return first == events.end() ? 0 : first->ticks;
}

}  // namespace

core::Result<TraceReader> TraceReader::open(std::istream& in, const std::string& name) {
  auto container = ContainerReader::open(in, name);
  if (!container) {
    return tl::unexpected(container.error());
  }
  TraceReader reader(std::move(*container));
  if (!reader.is_trace()) {
    return core::fail(name + " is not a trace");
  }
  reader.load();
  return reader;
}

bool TraceReader::is_trace() const {
  return !container_.chunks().empty() && container_.chunks().front().kind == ChunkKind::clocks;
}

void TraceReader::load() {
  container_.for_each(ChunkKind::strings, 0,
                      [this](TracePayload payload) { return texts_.add(payload); });
  container_.for_each(ChunkKind::modules, 0, [this](TracePayload payload) {
    return add_trace_modules(payload, texts_, modules_);
  });
  container_.for_each(ChunkKind::processes, 0, [this](TracePayload payload) {
    return read_processes(payload, texts_, processes_);
  });
  container_.for_each(ChunkKind::threads, 0, [this](TracePayload payload) {
    return read_threads(payload, texts_, threads_);
  });
  load_functions();
  std::vector<TraceClockPair> pairs;
  container_.for_each(ChunkKind::clocks, 0,
                      [&](TracePayload payload) { return add_clock_pairs(payload, pairs); });
  clock_ = TraceClock(std::move(pairs), header().monotonic_ns);
  find_events();
}

void TraceReader::load_functions() {
  container_.for_each(ChunkKind::functions, 0, [this](TracePayload payload) {
    PayloadReader in(payload);
    while (in.has_more()) {
      const std::uint32_t number = in.u32();
      const TraceFunction row = read_trace_function(in, texts_);
      if (!in.ok() || functions_.size() >= kMostTraceFunctions) {
        return false;
      }
      if (functions_.insert_or_assign(number, row).second) {
        numbers_.push_back(number);
      }
    }
    return in.ok();
  });
}

/// What is missing between two chunks of a thread is lost, also if nobody has said so.
void TraceReader::find_events() {
  std::unordered_map<std::uint32_t, std::uint64_t> next;  // by thread
  TraceEvents chunk;
  for (std::size_t number = 0; number < container_.chunks().size(); ++number) {
    if (container_.chunks()[number].kind != ChunkKind::events) {
      continue;
    }
    const bool is_read = container_.visit(
        number, [&](TracePayload payload) { return read_trace_events(payload, chunk); });
    if (!is_read) {
      continue;
    }
    std::uint64_t& expected = next[chunk.thread];
    const std::uint64_t gap = chunk.first > expected ? chunk.first - expected : 0;
    places_.push_back({number, chunk.thread, chunk.first, std::max(chunk.lost, gap),
                       chunk.events.size(), first_time(chunk.events)});
    expected = chunk.first + chunk.events.size();
  }
}

bool TraceReader::read(const Place& place, std::vector<core::TraceEvent>& events) {
  TraceEvents chunk;
  const bool is_read = container_.visit(
      place.chunk, [&](TracePayload payload) { return read_trace_events(payload, chunk); });
  events = is_read ? std::move(chunk.events) : std::vector<core::TraceEvent>();
  return is_read;
}

const RecordingThread* TraceReader::thread(std::uint32_t number) const {
  return number < threads_.size() && threads_[number].id.tid != 0 ? &threads_[number] : nullptr;
}

const RecordingModule* TraceReader::module(std::uint32_t number) const {
  const auto found = modules_.find(number);
  return found == modules_.end() ? nullptr : &found->second;
}

const TraceFunction* TraceReader::function(std::uint32_t number) const {
  const auto found = functions_.find(number);
  return found == functions_.end() ? nullptr : &found->second;
}

std::string TraceReader::facts() {
  std::uint32_t last = 0;
  for (const ContainerReader::Chunk& chunk : container_.chunks()) {
    if (chunk.kind == ChunkKind::set_end) {
      last = std::max(last, chunk.set);
    }
  }
  std::string text;
  if (last == 0) {
    return text;
  }
  container_.for_each(ChunkKind::facts, last, [&](TracePayload payload) {
    text.append(static_cast<const char*>(static_cast<const void*>(payload.data())), payload.size());
    return text.size() <= kMostFacts;
  });
  return text;
}

}  // namespace sp::profiler
