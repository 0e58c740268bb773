#include "profiler/recording/recording_rows.h"

#include <limits>

namespace sp::profiler {
namespace {

constexpr std::size_t kMostModules = std::size_t{1} << 20U;
constexpr std::size_t kMostNodes = Profile::kMaxNodes + Profile::kMaxNodes / 8;
constexpr std::size_t kMostFunctions = std::size_t{1} << 22U;
constexpr std::size_t kMostNames = std::size_t{1} << 24U;

/// A row's value as one of the enumerators up to `last`; false if it is none.
template <typename Enum>
bool to_enum(std::uint32_t value, Enum last, Enum& into) {
  into = static_cast<Enum>(value);
  return value <= static_cast<std::uint32_t>(last);
}

/// Calls row(in), which returns false for a damaged row, until the chunk's end.
template <typename Row>
bool for_each_row(std::span<const std::byte> payload, Row row) {
  PayloadReader in(payload);
  while (in.has_more()) {
    if (!row(in) || !in.ok()) {
      return false;
    }
  }
  return in.ok();
}

core::ProcessId process_id(PayloadReader& in) {
  const auto pid = in.number<std::int32_t>();
  return {pid, in.u32()};
}

std::optional<core::TimePoint> bound_of(PayloadReader& in) {
  const auto ns = in.number<std::int64_t>();
  if (ns == std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  return core::TimePoint(core::Duration(ns));
}

CountedSpan span_of(PayloadReader& in) {
  const auto since = bound_of(in);
  return {since, bound_of(in)};
}

}  // namespace

bool read_modules(std::span<const std::byte> payload, const Texts& texts,
                  std::vector<NumberedModule>& modules) {
  return for_each_row(payload, [&](PayloadReader& in) {
    NumberedModule row;
    row.id = in.u32();
    const bool is_known = to_enum(in.u32(), core::ModuleKind::unknown, row.module.kind);
    row.module.deleted = in.u32() != 0;
    row.module.path = texts[in.u32()];
    row.module.build_id = texts[in.u32()];
    row.module.process = process_id(in);
    (void)in.u32();
    row.module.base = in.u64();
    modules.push_back(row);
    return is_known && modules.size() <= kMostModules;
  });
}

bool read_processes(std::span<const std::byte> payload, const Texts& texts,
                    std::vector<RecordingProcess>& processes) {
  return for_each_row(payload, [&](PayloadReader& in) {
    RecordingProcess row;
    row.id = process_id(in);
    row.parent = process_id(in);
    row.command = texts[in.u32()];
    processes.push_back(row);
    return processes.size() <= Profile::kMaxProcesses;
  });
}

bool read_threads(std::span<const std::byte> payload, const Texts& texts,
                  std::vector<RecordingThread>& threads) {
  return for_each_row(payload, [&](PayloadReader& in) {
    const std::uint32_t number = in.u32();
    if (number > Profile::kMaxThreads) {
      return false;
    }
    if (number >= threads.size()) {
      threads.resize(number + 1);
    }
    RecordingThread& row = threads[number];
    row.id.tid = in.number<std::int32_t>();
    row.id.serial = in.u32();
    row.process = process_id(in);
    row.name = texts[in.u32()];
    row.start_ns = in.number<std::int64_t>();
    return true;
  });
}

bool read_places(std::span<const std::byte> payload, std::vector<RecordingPlace>& places) {
  PayloadReader in(payload);
  const std::uint32_t first = in.u32();
  const std::uint32_t count = in.u32();
  const auto values = in.column<std::uint64_t>(count);
  const auto modules = in.column<std::uint32_t>(count);
  const auto kinds = in.column<std::uint8_t>(count);
  if (!in.ok() || in.has_more() || first != places.size() ||
      count > Profile::kMaxSteps - places.size()) {
    return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    RecordingPlace place{values[i], modules[i], StepKind::instruction};
    if (!to_enum(kinds[i], StepKind::thread, place.kind)) {
      return false;
    }
    places.push_back(place);
  }
  return true;
}

bool read_nodes(std::span<const std::byte> payload, std::size_t places,
                std::vector<RecordingNode>& nodes) {
  PayloadReader in(payload);
  const std::uint32_t first = in.u32();
  const std::uint32_t count = in.u32();
  const auto parents = in.column<std::uint32_t>(count);
  const auto of = in.column<std::uint32_t>(count);
  if (!in.ok() || in.has_more() || first != nodes.size() || count > kMostNodes - nodes.size()) {
    return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool is_root = nodes.size() <= Profile::kPcOnlyRoot;
    if (!is_root && (parents[i] >= nodes.size() || of[i] >= places)) {
      return false;
    }
    nodes.push_back({parents[i], of[i]});
  }
  return true;
}

bool read_samples(std::span<const std::byte> payload, std::size_t nodes, SampleChunk& chunk) {
  PayloadReader in(payload);
  chunk.first = in.u64();
  chunk.stride = in.u64();
  const std::uint64_t count = in.u64();
  const auto times = in.column<std::int64_t>(count);
  const auto weights = in.column<std::uint64_t>(count);
  const auto threads = in.column<std::uint32_t>(count);
  const auto of = in.column<std::uint32_t>(count);
  const auto kinds = in.column<std::uint8_t>(count);
  if (!in.ok() || in.has_more() || chunk.stride == 0) {
    return false;
  }
  chunk.samples.clear();
  std::uint64_t time = 0;  // unsigned: what a file says may overflow
  for (std::size_t i = 0; i < count; ++i) {
    time += static_cast<std::uint64_t>(times[i]);
    RecordingSample sample{static_cast<std::int64_t>(time), weights[i], threads[i], of[i],
                           core::SampleKind::on_cpu};
    if (of[i] >= nodes || threads[i] > Profile::kMaxThreads ||
        !to_enum(kinds[i], core::SampleKind::blocked, sample.kind)) {
      return false;
    }
    chunk.samples.push_back(sample);
  }
  return true;
}

bool read_functions(std::span<const std::byte> payload, const Texts& texts,
                    std::vector<RecordingFunction>& functions) {
  return for_each_row(payload, [&](PayloadReader& in) {
    RecordingFunction row;
    row.name = texts[in.u32()];
    row.module = texts[in.u32()];
    row.file = texts[in.u32()];
    row.line = in.u32();
    const bool is_known = to_enum(in.u32(), FunctionKind::thread, row.kind);
    const bool has_calls = in.u32() != 0;
    row.self = in.u64();
    row.total = in.u64();
    const std::uint64_t calls = in.u64();
    row.calls = has_calls ? std::optional(calls) : std::nullopt;
    row.span = span_of(in);
    functions.push_back(row);
    return is_known && functions.size() <= kMostFunctions;
  });
}

bool read_names(std::span<const std::byte> payload, const Texts& texts, std::size_t functions,
                std::vector<RecordingName>& names, std::vector<std::size_t>& ends) {
  return for_each_row(payload, [&](PayloadReader& in) {
    const std::uint32_t count = in.u32();
    for (std::uint32_t i = 0; i < count; ++i) {
      RecordingName name;
      name.function = in.u32();
      name.inlined = in.u32() != 0;
      name.file = texts[in.u32()];
      name.line = in.u32();
      name.start = in.u64();
      if (!in.ok() || name.function >= functions || names.size() >= kMostNames) {
        return false;
      }
      names.push_back(name);
    }
    ends.push_back(names.size());
    return ends.size() <= Profile::kMaxSteps;
  });
}

bool read_code(std::span<const std::byte> payload, const Texts& texts,
               std::vector<RecordingCode>& code) {
  return for_each_row(payload, [&](PayloadReader& in) {
    RecordingCode row;
    row.module = in.u32();
    row.name = texts[in.u32()];
    row.start = in.u64();
    code.push_back(row);
    return code.size() <= kMostFunctions;
  });
}

bool read_blocks(std::span<const std::byte> payload, const Texts& texts, std::size_t code,
                 const std::function<void(const RecordingBlock&)>& visit) {
  return for_each_row(payload, [&](PayloadReader& in) {
    RecordingBlock row;
    row.code = in.u32();
    row.size = in.u32();
    row.instructions = in.u32();
    (void)in.u32();
    row.offset = in.u64();
    row.hits = in.u64();
    row.samples = in.u64();
    row.first_ns = in.number<std::int64_t>();
    row.last_ns = in.number<std::int64_t>();
    row.span = span_of(in);
    row.file = texts[in.u32()];
    row.line = in.u32();
    if (!in.ok() || row.code >= code) {
      return false;
    }
    visit(row);
    return true;
  });
}

bool read_edges(std::span<const std::byte> payload,
                const std::function<void(const RecordingEdge&)>& visit) {
  return for_each_row(payload, [&](PayloadReader& in) {
    RecordingEdge row;
    row.from_module = in.u32();
    row.to_module = in.u32();
    row.from = in.u64();
    row.to = in.u64();
    row.hits = in.u64();
    const bool is_known = to_enum(in.u32(), core::EdgeFlow::entry, row.flow);
    (void)in.u32();
    row.span = span_of(in);
    if (!in.ok() || !is_known) {
      return false;
    }
    visit(row);
    return true;
  });
}

}  // namespace sp::profiler
