#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/code_counts.h"
#include "core/ids.h"
#include "core/messages.h"
#include "core/module.h"
#include "profiler/counted_span.h"
#include "profiler/named_profile.h"
#include "profiler/profile.h"

/// What recording.sp holds, as its reader gives it. Texts are those of the reader and live as long.
/// Times are nanoseconds since the run's start.
namespace sp::profiler {

struct RecordingModule {
  core::ModuleKind kind = core::ModuleKind::unknown;
  bool deleted = false;
  std::string_view path;
  std::string_view build_id;
  core::ProcessId process;  // that it was first seen in
  std::uint64_t base = 0;
};

struct RecordingProcess {
  core::ProcessId id;
  core::ProcessId parent;
  std::string_view command;
};

struct RecordingThread {
  core::ThreadId id;  // tid 0: stands for all threads that found no room
  core::ProcessId process;
  std::string_view name;
  std::int64_t start_ns = 0;
};

/// A step of a stack, as Step; `value` of a blocked one is the number of a text().
struct RecordingPlace {
  std::uint64_t value = 0;
  std::uint32_t module = 0;  // its id
  StepKind kind = StepKind::instruction;
};

/// A node of the tree of stacks, as Profile::Node: the first two are roots.
struct RecordingNode {
  std::uint32_t parent = 0;
  std::uint32_t place = 0;
};

struct RecordingSample {
  std::int64_t time_ns = 0;
  std::uint64_t weight = 0;  // how many samples it stands for
  std::uint32_t thread = 0;  // of threads()
  std::uint32_t node = 0;    // of nodes()
  core::SampleKind kind = core::SampleKind::on_cpu;
};

/// What the single samples are.
struct RecordingSamples {
  std::uint64_t kept = 0;
  std::uint64_t weight = 0;  // of those that were kept
  std::uint64_t stride = 1;  // every how manyth was kept
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

/// A row of functions.tsv, or a marker.
struct RecordingFunction {
  std::string_view name;
  std::string_view module;
  std::string_view file;
  std::uint32_t line = 0;
  FunctionKind kind = FunctionKind::unknown;
  std::uint64_t self = 0;
  std::uint64_t total = 0;
  std::optional<std::uint64_t> calls{};
  CountedSpan span{};  // from the run's start, which is TimePoint{}
};

/// One of the functions at a place.
struct RecordingName {
  std::uint32_t function = 0;
  bool inlined = false;
  std::uint32_t line = 0;
  std::string_view file;
  std::uint64_t start = 0;
};

/// A symbol's range with counted code.
struct RecordingCode {
  std::uint32_t module = 0;
  std::string_view name;
  std::uint64_t start = 0;
};

struct RecordingBlock {
  std::uint32_t code = 0;
  std::uint32_t size = 0;
  std::uint32_t instructions = 0;
  std::uint64_t offset = 0;
  std::uint64_t hits = 0;
  std::uint64_t samples = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  CountedSpan span{};
  std::string_view file;
  std::uint32_t line = 0;
};

struct RecordingEdge {
  std::uint32_t from_module = 0;
  std::uint32_t to_module = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t hits = 0;
  core::EdgeFlow flow = core::EdgeFlow::jump;
  CountedSpan span{};
};

}  // namespace sp::profiler
