#include "supervisor/instruments/probes/frames_before.h"

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "arch/native.h"
#include "core/stack.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/process_vm.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/unwinding/stack_resolver.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// A deeper stack is not walked: the threads are stopped meanwhile.
constexpr std::size_t kMostFrames = 16'384;
constexpr std::size_t kDeepest = std::size_t{4} << 20U;

class FramesBefore {
 public:
  FramesBefore(ProbedCode& code, const WorldStop& world, std::vector<core::Mapping> maps,
               const Tracee& stopped, bool in_hit)
      : code_(code), world_(world), process_(stopped.process->id), resolver_(options()) {
    resolver_.set_maps(process_, stopped.id.tid, std::move(maps));
    if (in_hit) {
      hit_ = stopped.id.tid;
      entry_ = probed_thread(stopped).last_place;
      sp_ = probed_thread(stopped).sp_of_last_place;
    }
  }

  void note(const Tracee& thread) {
    const auto raw = copy_stack_of(thread.id.tid);
    if (!raw) {
      return;
    }
    const std::vector<WalkedFrame> frames = resolver_.walk(process_, thread.id.tid, *raw);
    const core::TimePoint now = core::Clock::now();
    // The outermost frame was not called: it begins where its callee's return address stands, or
    // above, and a sample shows it without a call site.
    for (std::size_t i = frames.size(); i-- > 0;) {
      const WalkedFrame& frame = frames[i];
      const ProbedFunction* const function = function_of(frame);
      if (function == nullptr) {
        continue;
      }
      if (i + 1 == frames.size()) {
        code_.trace()->recorder->note_open(thread, function->number, {frame.sp, Address{}}, now);
      } else if (const WalkedFrame& caller = frames[i + 1]; caller.is_return_address) {
        const Address sp = caller.sp - Native::kPushedByCall;
        code_.trace()->recorder->note_open(thread, function->number, {sp, caller.pc}, now);
      }
    }
  }

 private:
  static StackResolverOptions options() {
    StackResolverOptions options;
    options.max_frames = kMostFrames;
    return options;
  }

  /// Null: it has no places, or its entry is still to come.
  [[nodiscard]] const ProbedFunction* function_of(const WalkedFrame& frame) const {
    const Address at = frame.is_return_address ? frame.pc - 1 : frame.pc;
    const ProbedFunction* const function = std::as_const(code_.functions()).at(at);
    const bool is_open = function != nullptr && !function->is_part &&
                         code_.trace()->has_places(*function) &&
                         (frame.is_return_address || frame.pc != function->bounds.begin);
    return is_open ? function : nullptr;
  }

  [[nodiscard]] std::optional<core::RawStack> copy_stack_of(pid_t tid) const {
    const auto held = std::find_if(world_.threads().begin(), world_.threads().end(),
                                   [tid](const HeldThread& each) { return each.tid == tid; });
    if (held == world_.threads().end()) {
      return copy_sleeper(tid);
    }
    const auto registers = ptrace::registers(tid);
    if (!registers) {
      return std::nullopt;
    }
    core::RawStack raw;
    raw.registers = Native::to_dwarf(*registers);
    if (hit_ == tid) {
      raw.registers.pc = entry_;
      raw.registers.sp = sp_;
    } else if (const Address at = Native::breakpoint_of_trap(raw.registers.pc);
               is_at_breakpoint(*held, at)) {
      raw.registers.pc = at;
    }
    return copy_whole(tid, std::move(raw));
  }

  /// The thread's trap is reported or pending, and nobody has handled it.
  [[nodiscard]] bool is_at_breakpoint(const HeldThread& held, Address at) const {
    const auto* const signal = std::get_if<SignalDelivery>(&held.stop);
    const auto registers = ptrace::registers(held.tid);
    return code_.is_known_site(at) &&
           ((signal != nullptr && signal->signal == SIGTRAP) ||
            (registers && trap_is_pending(code_, held.tid, Native::pc(*registers), false)));
  }

  [[nodiscard]] std::optional<core::RawStack> copy_sleeper(pid_t tid) const {
    const auto sleepers = world_.sleepers();
    const auto sleeper = std::find_if(sleepers.begin(), sleepers.end(),
                                      [tid](const auto& each) { return each.first == tid; });
    return sleeper == sleepers.end()
               ? std::nullopt
               : std::optional(copy_whole(tid, copy_sleeping_stack(tid, sleeper->second, 0)));
  }

  static core::RawStack copy_whole(pid_t tid, core::RawStack raw) {
    return copy_whole_stack(tid, std::move(raw), kDeepest, [] { return true; });
  }

  ProbedCode& code_;
  const WorldStop& world_;
  core::ProcessId process_;
  StackResolver resolver_;
  pid_t hit_ = 0;  // the thread whose call is told afterwards
  Address entry_;  // of its function
  Address sp_;     // there
};

}  // namespace

void note_frames_before(ProbedCode& code, TraceeTable& tracees, const WorldStop& world,
                        std::vector<core::Mapping> maps, const Tracee& stopped, bool in_hit) {
  FramesBefore frames(code, world, std::move(maps), stopped, in_hit);
  for (const Tracee* const thread : tracees.in(code)) {
    frames.note(*thread);
  }
}

}  // namespace sp::supervisor
