#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/ids.h"
#include "core/stack.h"

/// A process that is about to die of a signal whose default action is a core dump: signal(7).
namespace sp::core {

/// siginfo_t of the signal, sigaction(2).
struct CrashSignal {
  int number = 0;
  int code = 0;                            // si_code
  std::optional<std::uint64_t> address{};  // that a fault names
  int sender = 0;                          // pid; 0: the kernel
};

struct NamedRegister {
  std::string name;
  std::uint64_t value = 0;
};

/// One of its threads, with its stack as `StackType`.
template <typename StackType>
struct ThreadAtCrash {
  ThreadId id;
  std::string name;
  std::string syscall;  // that it slept in; "" if it did not sleep
  StackType stack;
};

/// supervisor -> analyzer: what a process was when the signal was about to be delivered to the
/// event's thread.
struct Crashed {
  CrashSignal signal;
  std::vector<NamedRegister> registers;          // of the event's thread
  std::vector<ThreadAtCrash<RawStack>> threads;  // the event's thread is the first
  std::uint64_t unread_threads = 0;              // that could not be stopped or found no room
};

/// A stack, and where its frames are in the process; no address where that is not known any more.
struct PlacedStack {
  Stack stack;
  std::vector<std::optional<Address>> addresses;  // one a frame
};

/// analyzer -> profiler.
struct CrashSeen {
  ProcessId process;
  TimePoint time;
  CrashSignal signal;
  std::vector<NamedRegister> registers;
  std::vector<ThreadAtCrash<PlacedStack>> threads{};  // the one that got the signal is the first
  std::uint64_t unread_threads = 0;
};

/// profiler -> supervisor: the process may go, nothing of it is read any more.
struct CrashResolved {
  ProcessId process;
};

}  // namespace sp::core
