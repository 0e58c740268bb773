#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/call_counts.h"
#include "core/clock.h"
#include "core/code_counts.h"
#include "core/crash.h"
#include "core/function_trace.h"
#include "core/ids.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/probed_code.h"
#include "core/stack.h"
#include "core/trace_request.h"

/// The messages that the stages exchange:
///   supervisor --StopEvent--> analyzer --Record--> profiler
///   supervisor <--Request---- analyzer
namespace sp::core {

// ---- supervisor -> analyzer ------------------------------------------------------------------

/// A thread was found on a CPU (or runnable) and stopped for a moment.
struct Sampled {
  RawStack raw;
  /// False if --trace-prob kept only the pc; raw.bytes is then empty.
  bool with_stack = true;
  /// The number of ticks that this sample represents: with --wall each tick counts every thread
  /// once but stops at most one.
  std::uint64_t count = 1;
};

/// A thread was found blocked (--wall only). The first report of a wait carries the stack; later
/// ones add ticks to the same wait.
struct OffCpuSample {
  std::uint64_t wait_id = 0;  // identifies one wait of one thread; never 0
  std::uint64_t ticks = 1;    // how often the thread was found in it since the last report
  std::string syscall;        // "futex"; "page fault" outside of system calls
  std::optional<RawStack> raw;
  /// `raw` was taken without stopping the thread, so only pc and sp are known.
  bool unstopped = false;
};

/// The contents of /proc/PID/maps; sent when a program starts, before it ends, and on request.
struct MappingSnapshot {
  std::vector<Mapping> maps;
  bool is_followed = false;  // another one is told before anything is counted in other files
};

/// A process is traced from now on: launched, attached, forked or exec'ed (the same pid with a new
/// serial).
struct ProcessStarted {
  ProcessId parent;     // pid 0 for the first process
  std::string command;  // its arguments, joined by blanks
};
struct ProcessEnded {};

/// A thread is traced from now on, or has changed its name.
struct ThreadStarted {
  std::string name;  // /proc/PID/task/TID/comm; "" if the thread is gone
};
struct ThreadEnded {
  std::string name;  // its last name; "" where it could not be read
};

/// Samples that were taken but dropped because a channel was full.
struct Lost {
  std::uint64_t samples = 0;
};

/// SIGUSR1: write the output files now and continue.
struct SnapshotWanted {};

/// Code that the event's process executed since the last such event, with its counts. Addresses
/// refer to the process's last MappingSnapshot. Sent before its maps change, at snapshots and at
/// the end.
struct CodeCounted {
  std::vector<DynamicBlock<Address>> runs;
  std::vector<CodeEdge<Address>> edges;
};

/// Default mode's counterpart of CodeCounted: blocks with probes, and the probes' counts.
using CodeProbed = ProbedCode<Address>;

/// What the event's thread did since the last such event (--trace).
using FunctionsTraced = TraceBatch<Address>;

/// What `superprofiler count` asks of calls, of the event's process.
using CallsCounted = CallGroups<Address>;

/// A thread was single-stepped for a while after a sample: the instructions in order.
struct Stepped {
  struct At {
    Address pc;
    std::uint8_t size = 0;  // bytes of `code` that could be read
    std::array<std::byte, 15> code{};
  };
  std::vector<At> path;  // the last instruction was not executed
};

using StopDetail =
    std::variant<Sampled, OffCpuSample, MappingSnapshot, ProcessStarted, ProcessEnded,
                 ThreadStarted, ThreadEnded, Lost, SnapshotWanted, CodeCounted, CodeProbed,
                 FunctionsTraced, CallsCounted, TraceRequest, Stepped, Crashed>;

struct StopEvent {
  ProcessId process;
  ThreadId thread;
  TimePoint time;
  StopDetail detail;
};

// ---- analyzer -> supervisor ------------------------------------------------------------------

/// The copy of this thread's stack was too short: copy more next time.
struct LargerStackDump {
  ThreadId thread;
};

/// A blocked thread's stack could not be unwound from outside: stop it once and copy its registers.
struct StopBlocked {
  ThreadId thread;
  std::uint64_t wait_id = 0;
};

/// Samples fell into functions without probes, or single steps reached unknown leaders: instrument
/// the code.
struct ProbeFunctions {
  ProcessId process;
  std::vector<Address> at;       // instrument the functions that hold these, now
  std::vector<Address> entries;  // instrument these when they are called next
};

using Request = std::variant<LargerStackDump, StopBlocked, ProbeFunctions, CrashResolved>;

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
  /// The number of samples: a blocked thread is counted at each tick but reported once.
  std::uint64_t count = 1;
  /// The system call that a blocked thread waits in.
  std::string blocked_in;
  /// False if --trace-prob kept only the innermost pc.
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
  TimePoint time{};
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

struct TraceEventsTaken {
  ProcessId process;
  ThreadId thread;
  TraceBatch<ModuleOffset> batch;
};

struct CallCountsTaken {
  ProcessId process;
  CallGroups<ModuleOffset> calls;
};

/// What single steps showed about a module's code.
struct CodeExplored {
  std::uint64_t windows = 0;
  std::uint64_t steps = 0;
  std::uint64_t branches = 0;  // instructions seen to transfer control for the first time
  /// Steps that contradict the decoder: it predicted the next instruction, or another target.
  std::uint64_t disagreements = 0;
};

using Record = std::variant<ModuleSeen, SampleTaken, ProcessSeen, ThreadSeen, SamplesLost,
                            SnapshotWanted, CodeCountsTaken, ProbeCountsTaken, TraceEventsTaken,
                            CallCountsTaken, TraceRequest, CodeExplored, CrashSeen>;

}  // namespace sp::core
