#include "supervisor/crash_threads.h"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "arch/native.h"
#include "core/mapping.h"
#include "supervisor/crash_signal.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/process_vm.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using std::chrono::milliseconds;

constexpr core::Duration kBystandersLimit = milliseconds(300);
/// Who does not wake by then waits for a child (vfork) or a disk.
constexpr core::Duration kSleepersLimit = milliseconds(50);
constexpr std::size_t kFirstPiece = std::size_t{16} << 10U;
constexpr std::size_t kDeepestStack = std::size_t{1} << 20U;
/// Of all stacks together.
constexpr std::size_t kAllStacks = std::size_t{64} << 20U;

void pause_shortly(core::Duration time) {
  const timespec pause{0, time.count()};
  (void)::ppoll(nullptr, 0, &pause, nullptr);
}

bool is_in_stop(pid_t tid) {
  const auto report = ptrace::look(tid);
  return report && *report;
}

/// The first readable memory at or above `from`.
core::Address first_memory(pid_t tid, core::Address from) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  for (const core::Mapping& mapping : core::parse_maps(text.value_or(""))) {
    if (mapping.readable && mapping.range.end > from) {
      return std::max(mapping.range.begin, from);
    }
  }
  return from;
}

/// Copies the stack above `raw.registers.sp`. That itself is in no memory where the stack has
/// overflown.
void copy_upwards(pid_t tid, core::RawStack& raw, std::size_t most) {
  for (std::size_t size = std::min(kFirstPiece, most);; size = std::min(size * 4, most)) {
    raw.bytes.resize(size);
    copy_stack(tid, raw);
    if (raw.bytes.empty()) {
      raw.bottom = first_memory(tid, raw.registers.sp);
      raw.bytes.resize(most);
      raw.bytes.resize(copy_memory(tid, raw.bottom, raw.bytes));
      return;
    }
    if (raw.bytes.size() < size || size == most) {
      return;
    }
  }
}

/// A thread that has met a breakpoint whose trap is not served yet is behind it.
core::Address before_trap(const Tracee& tracee, core::Address pc) {
  const InstrumentedCode* const code = instrumented_code(*tracee.process);
  const core::Address breakpoint = Native::breakpoint_of_trap(pc);
  const auto report = code != nullptr && code->is_known_site(breakpoint)
                          ? ptrace::look(tracee.id.tid)
                          : core::Result<std::optional<ptrace::Report>>(std::nullopt);
  const WaitStatus status =
      report && *report ? parse_wait_status((*report)->status) : WaitStatus(NotAStop{});
  const auto* const delivery = std::get_if<SignalDelivery>(&status);
  return delivery != nullptr && delivery->signal == SIGTRAP ? breakpoint : pc;
}

}  // namespace

core::Result<ptrace::Registers> own_registers(const Tracee& tracee) {
  const ptrace::Registers* const own =
      tracee.thread_state != nullptr ? tracee.thread_state->registers_without_us() : nullptr;
  return own != nullptr ? *own : ptrace::registers(tracee.id.tid);
}

CrashThreads CrashThreads::stop(TraceeTable& tracees, Tracee& stopped) {
  CrashThreads threads(tracees, stopped);
  const auto world = WorldStop::stop_most(tracees, stopped, kBystandersLimit);
  const auto tids = list_threads(stopped.process->id.pid);
  if (!world || !tids) {
    return threads;
  }
  for (const pid_t tid : *tids) {
    Tracee* const tracee = tracees.find(tid);
    if (tracee == nullptr) {
      ++threads.unknown_;
    } else if (tid != stopped.id.tid) {
      threads.others_.push_back({tracee, {}, world->holds(tid)});
    }
  }
  std::sort(threads.others_.begin(), threads.others_.end(),
            [](const Other& a, const Other& b) { return a.tracee->id.tid < b.tracee->id.tid; });
  for (const auto& [tid, call] : world->sleepers()) {
    for (Other& other : threads.others_) {
      if (other.tracee->id.tid == tid) {
        other.call = call;
      }
    }
  }
  threads.stop_sleepers(core::Clock::now() + kSleepersLimit);
  return threads;
}

void CrashThreads::stop_sleepers(core::TimePoint until) {
  std::vector<Other*> awaited;
  for (Other& other : others_) {
    if (!other.is_stopped && !other.tracee->group_stopped &&
        interrupt(*other.tracee,
                  other.call.number < 0 ? std::nullopt : std::optional(other.call))) {
      awaited.push_back(&other);
    }
  }
  for (;;) {
    std::erase_if(awaited, [this](Other* other) {
      other->is_stopped = is_in_stop(other->tracee->id.tid);
      if (other->is_stopped) {
        tracees_->left_report(other->tracee->id.tid);
      }
      return other->is_stopped;
    });
    if (awaited.empty() || core::Clock::now() > until) {
      return;
    }
    pause_shortly(std::chrono::microseconds(100));
  }
}

void CrashThreads::restore_code(Instrument& instrument) {
  const TracedProcess& process = *stopped_->process;
  const InstrumentedCode* const code = instrumented_code(process);
  if (code == nullptr || code->owner() != process.id) {
    return;
  }
  instrument.restore(process);
  (void)instrument.make_detachable(*stopped_, false);
  if (const auto registers = own_registers(*stopped_)) {
    correct_fault_address(stopped_->id.tid, Native::pc(*registers));
  }
}

void CrashThreads::copy_stacks(Instrument* instrument, core::Crashed& crash,
                               core::TimePoint until) const {
  const auto add = [&crash](const Tracee& tracee, int call, core::RawStack raw) {
    crash.threads.push_back({tracee.id, read_name(tracee.process->id.pid, tracee.id.tid),
                             call >= 0 ? name_of_call(call) : std::string(), std::move(raw)});
  };
  core::RawStack first;
  if (const auto registers = own_registers(*stopped_)) {
    first.registers = Native::to_dwarf(*registers);
    crash.registers = Native::named(*registers);
    copy_upwards(stopped_->id.tid, first, kDeepestStack);
  }
  add(*stopped_, -1, std::move(first));
  crash.unread_threads = unknown_;
  const std::size_t most = std::min(kDeepestStack, kAllStacks / (others_.size() + 1));
  for (const Other& other : others_) {
    core::RawStack raw;
    const pid_t tid = other.tracee->id.tid;
    if (core::Clock::now() > until) {
      ++crash.unread_threads;
      continue;
    }
    if (other.is_stopped) {
      if (instrument != nullptr && other.tracee->process->code_state != nullptr) {
        instrument->on_other_stop(*other.tracee);
      }
      auto registers = own_registers(*other.tracee);
      if (!registers) {
        ++crash.unread_threads;
        continue;
      }
      Native::set_pc(*registers, before_trap(*other.tracee, Native::pc(*registers)));
      raw.registers = Native::to_dwarf(*registers);
    } else if (const auto call = read_syscall(tid)) {
      raw = copy_sleeping_stack(tid, *call, 0);
    } else {
      ++crash.unread_threads;
      continue;
    }
    copy_upwards(tid, raw, most);
    add(*other.tracee, other.call.number, std::move(raw));
  }
}

}  // namespace sp::supervisor
