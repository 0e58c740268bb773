#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "core/code_counts.h"
#include "core/ids.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/probed_code.h"
#include "core/stack.h"

/// The nouns that the stages exchange. Data runs across, includes run down:
///   supervisor --StopEvent--> analyzer --Record--> profiler
///   supervisor <--Request---- analyzer
namespace sp::core {

// ---- supervisor -> analyzer ------------------------------------------------------------------

/// A thread was found on a CPU (or runnable) and stopped for a moment.
struct Sampled {
  RawStack raw;
  /// False where --trace-prob chose to keep only the pc; raw.bytes is then empty.
  bool with_stack = true;
  /// Ticks that this sample stands for: with --wall each tick counts each thread once, but stops
  /// at most one.
  std::uint64_t count = 1;
};

/// A thread was found blocked (--wall only). The first report of a wait carries the stack; later
/// ones add ticks to the same wait.
struct OffCpuSample {
  std::uint64_t wait_id = 0;  // names one distinct wait of one thread; never 0
  std::uint64_t ticks = 1;    // how often the thread was found in it since the last report
  std::string syscall;        // "futex"; "page fault" where it is not in a system call
  std::optional<RawStack> raw;
  /// Raw was taken without stopping the thread, so only pc and sp are known.
  bool unstopped = false;
};

/// What /proc/PID/maps says now; sent when a program starts, before it ends, and when asked.
struct MappingSnapshot {
  std::vector<Mapping> maps;
};

/// A process came under our eyes: launched, attached, forked or exec'ed (the same pid with a new
/// serial).
struct ProcessStarted {
  ProcessId parent;     // pid 0 where it is the first
  std::string command;  // the words of its command line, joined by blanks
};
struct ProcessEnded {};

/// A thread came under our eyes, or has another name than it was told with before.
struct ThreadStarted {
  std::string name;  // /proc/PID/task/TID/comm; "" where it is gone
};
struct ThreadEnded {
  std::string name;  // its last name; "" where it could not be read
};

/// Samples that were taken but had to be dropped because a channel was full.
struct Lost {
  std::uint64_t samples = 0;
};

/// SIGUSR1: write the files as they are now, and go on.
struct SnapshotWanted {};

/// Code of the event's process that was seen and counted since the last such event, in addresses
/// that mean what its last MappingSnapshot said. Sent before its maps change, at snapshots and at the end.
struct CodeCounted {
  std::vector<DynamicBlock<Address>> runs;
  std::vector<CodeEdge<Address>> edges;
};

/// Blocks with probes, and what these counted: as CodeCounted, but of default mode.
using CodeProbed = ProbedCode<Address>;

/// A thread was single-stepped for a while after a sample: where it came by, one after the other.
struct Stepped {
  struct At {
    Address pc;
    std::uint8_t size = 0;  // of what could be read of `code`
    std::array<std::byte, 15> code{};
  };
  std::vector<At> path;  // the last one was not done any more
};

using StopDetail =
    std::variant<Sampled, OffCpuSample, MappingSnapshot, ProcessStarted, ProcessEnded, ThreadStarted, ThreadEnded,
                 Lost, SnapshotWanted, CodeCounted, CodeProbed, Stepped>;

struct StopEvent {
  ProcessId process;
  ThreadId thread;
  TimePoint time;
  StopDetail detail;
};

// ---- analyzer -> supervisor ------------------------------------------------------------------

/// The copy of this thread's stack ended before its stack did: copy more next time.
struct LargerStackDump {
  ThreadId thread;
};

/// A wait's stack could not be had from the outside: stop the thread once and copy its registers.
struct StopBlocked {
  ThreadId thread;
  std::uint64_t wait_id = 0;
};

/// Samples fell into functions that have no probes, or that were met in the middle: their code is
/// to be given some.
struct ProbeFunctions {
  ProcessId process;
  std::vector<Address> at;       // the functions that hold these, block by block, now
  std::vector<Address> entries;  // these only when they are called next
};

using Request = std::variant<LargerStackDump, StopBlocked, ProbeFunctions>;

// ---- analyzer -> profiler --------------------------------------------------------------------

struct ModuleSeen {
  Module module;
};

enum class SampleKind : std::uint8_t { on_cpu, blocked };

struct SampleTaken {
  ProcessId process;
  ThreadId thread;
  TimePoint time;
  SampleKind kind = SampleKind::on_cpu;
  /// How many samples this is: a blocked thread is counted at each tick but reported in one piece.
  std::uint64_t count = 1;
  /// The system call that a blocked thread waits in.
  std::string blocked_in;
  /// False where only the innermost pc is known because --trace-prob said so.
  bool with_stack = true;
  Stack stack;
};

struct ProcessSeen {
  ProcessId process;
  ProcessId parent;
  std::string command;
};

struct ThreadSeen {
  ProcessId process;
  ThreadId thread;
  std::string name;
};

struct SamplesLost {
  std::uint64_t samples = 0;
};

struct CodeCountsTaken {
  ProcessId process;
  std::vector<DynamicBlock<ModuleOffset>> runs;
  std::vector<CodeEdge<ModuleOffset>> edges;
};

struct ProbeCountsTaken {
  ProcessId process;
  ProbedCode<ModuleOffset> code;
};

/// What single steps showed of a module's code.
struct CodeExplored {
  std::uint64_t windows = 0;
  std::uint64_t steps = 0;
  std::uint64_t branches = 0;  // instructions that were newly seen to transfer control
  /// Steps that the decoder had not foreseen: it said "goes on behind", or named another place.
  std::uint64_t disagreements = 0;
};

using Record = std::variant<ModuleSeen, SampleTaken, ProcessSeen, ThreadSeen, SamplesLost,
                            SnapshotWanted, CodeCountsTaken, ProbeCountsTaken, CodeExplored>;

}  // namespace sp::core
