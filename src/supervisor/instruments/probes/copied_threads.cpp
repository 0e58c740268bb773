#include "supervisor/instruments/probes/copied_threads.h"

#include <signal.h>

#include <array>
#include <utility>
#include <variant>

#include "arch/native.h"
#include "supervisor/breakpoints/edge_flow.h"
#include "supervisor/copies/thread_moves.h"
#include "supervisor/instruments/probes/copied_transfers.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

using arch::Native;

namespace {

/// What a thread that is not counted has counted is in no sum.
void correct(const Tracee& tracee, const CountCorrection& correction) {
  if (probed_thread(tracee).counted) {
    probed_code(*tracee.process).copies().correct(correction);
  }
}

}  // namespace

void look_outside_of_copy(const Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  const FunctionCopies& copies = probed_code(*tracee.process).copies();
  thread.out_of_copy.reset();
  if (copies.all().empty()) {
    return;
  }
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    return;
  }
  ptrace::Registers at_instruction = *registers;
  const core::Address pc = Native::pc(*registers);
  if (thread.moved_trap != core::Address{} && Native::breakpoint_of_trap(pc) == thread.moved_trap) {
    Native::set_pc(at_instruction, thread.moved_trap);
  }
  const std::uint64_t behind = pc - Native::pc(at_instruction);
  const auto copy = copies.all().at(Native::pc(at_instruction));
  if (copy == nullptr) {
    make_room_for_transfers(thread);
    if (const auto leader = copies.all().leader_of_second_jump(pc)) {
      ptrace::Registers at_leader = *registers;
      Native::set_pc(at_leader, *leader);
      thread.out_of_copy = OutOfCopy{*registers, at_leader, {}, false};
    }
    return;
  }
  ThreadMemory memory(tracee.id.tid);
  if (auto move = move_to_original(*copy, at_instruction, memory)) {
    Native::set_pc(move->registers, Native::pc(move->registers) + behind);
    thread.out_of_copy =
        OutOfCopy{*registers, move->registers, move->correction, move->is_transferred};
    if (!move->is_in_table) {
      make_room_for_transfers(thread);
    }
  }
}

void leave_function_copy(const Tracee& tracee) {
  look_outside_of_copy(tracee);
  ProbedThread& thread = probed_thread(tracee);
  const auto out = std::exchange(thread.out_of_copy, std::nullopt);
  if (out && ptrace::set_registers(tracee.id.tid, out->outside)) {
    ProbedCode& code = probed_code(*tracee.process);
    correct(tracee, out->correction);
    take_back_transfer(tracee, out->outside, out->is_transferred);
    (void)code.forget_moved_trap(std::exchange(thread.moved_trap, core::Address{}));
  }
  if (const auto registers = out ? core::fail("") : ptrace::registers(tracee.id.tid)) {
    take_back_transfer(tracee, *registers, false);
  }
}

namespace {

/// Faults are of the instruction at pc, and their handlers may look at it.
bool is_fault(pid_t tid) {
  const auto info = ptrace::signal_info(tid);
  const bool may_be =
      info && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS || info->si_signo == SIGFPE ||
               info->si_signo == SIGILL || info->si_signo == SIGTRAP || info->si_signo == SIGSYS);
  return !info || (may_be && info->si_code > 0);
}

/// A fault names the address of its instruction, or of data.
void translate_fault(pid_t tid, const OutOfCopy& out) {
  auto info = ptrace::signal_info(tid);
  const auto inside = Native::pc(out.inside).value();
  if (info && info->si_code > 0 && reinterpret_cast<std::uintptr_t>(info->si_addr) == inside) {
    info->si_addr = reinterpret_cast<void*>(Native::pc(out.outside).value());  // NOLINT
    (void)ptrace::set_signal_info(tid, *info);
  }
}

/// Control goes on from there in the copy, at its next instruction, or not in this function.
bool is_at_landing(const core::FunctionCopy& copy, core::Address pc) {
  return !copy.block_of(pc) || std::any_of(copy.landings.begin(), copy.landings.end(),
                                           [pc](const core::CopyLanding& landing) {
                                             return (landing.at == pc || landing.leader() == pc) &&
                                                    landing.form != core::CopyLanding::Form::none;
                                           });
}

/// The original's code behind a lock prefix tells nobody that it is executed.
void count_unlocked(ProbedCode& code, const core::FunctionCopy& copy, core::Address pc) {
  const auto index = copy.block_of(pc);
  const ProbedBlock* const block = index ? code.block_starting_at(pc) : nullptr;
  if (block != nullptr && block->is_unlocked) {
    code.copies().correct({copy.blocks[*index].counter, 1, 1, -1, 0, 0});
  }
}

/// Executes the next instructions in the thread's stead, up to where it comes back to the copy. A
/// signal that comes from outside may as well have come some instructions later. So the original
/// is as it was where the thread goes on, and the way that it takes from its block is seen.
void emulate_ahead(const Tracee& tracee, const core::FunctionCopy& copy, bool is_transferred,
                   ptrace::Registers& registers, core::TimePoint now) {
  constexpr int kMost = 32;
  ProbedCode& code = probed_code(*tracee.process);
  ThreadMemory memory(tracee.id.tid);
  for (int i = 0; i < kMost && !is_at_landing(copy, Native::pc(registers)); ++i) {
    const core::Address pc = Native::pc(registers);
    std::array<std::byte, kLongestCode> bytes{};
    (void)code.fetch(pc, bytes);
    const auto instruction = Native::decode(bytes, pc);
    const auto in_block = unfinished(copy, pc);
    const ptrace::Registers before = registers;
    if (!instruction || Native::emulate(registers, bytes, memory) != arch::Emulated::done) {
      break;
    }
    if (instruction->flow == core::Flow::branch && in_block) {
      correct(tracee, *in_block);
      code.copies().count_edge(pc, Native::pc(registers),
                               edge_flow(*instruction, Native::pc(registers)), now);
      if (probed_thread(tracee).counted) {
        count_unlocked(code, copy, Native::pc(registers));
      }
    } else if (i > 0 || !is_transferred) {
      count_transfer(tracee, copy, before, now);
    }
  }
}

}  // namespace

/// If we are killed before the last step the thread goes on where it stopped, in the copy: in the
/// original it would come to jumps that are in the middle of its instructions.
void prepare_for_signal(const Tracee& tracee, CopyInstaller& installer) {
  ProbedCode& code = probed_code(*tracee.process);
  const auto out = std::exchange(probed_thread(tracee).out_of_copy, std::nullopt);
  const auto before = ptrace::registers(tracee.id.tid);
  if (!before) {
    return;
  }
  ptrace::Registers registers = out ? out->outside : *before;
  if (out) {
    translate_fault(tracee.id.tid, *out);
  }
  const core::TimePoint now = core::Clock::now();
  const auto copy = code.copies().all().of(Native::pc(registers));
  if (copy != nullptr && !is_at_landing(*copy, Native::pc(registers))) {
    if (!is_fault(tracee.id.tid)) {
      const bool is_transferred = out ? out->is_transferred : copy->is_kept(Native::pc(registers));
      emulate_ahead(tracee, *copy, is_transferred, registers, now);
    }
    const core::Address pc = Native::pc(registers);
    if (!is_at_landing(*copy, pc)) {
      code.end_edges_of(*copy, pc, now);
    }
    if (copy->original.contains(pc) && !copy->changes_from(pc).empty()) {
      installer.give_way(tracee, *copy, pc);
    }
  } else if (out && out->is_transferred) {
    take_back_transfer(tracee, registers, true);  // it is counted once the thread is back
  }
  if (!(registers == *before) && ptrace::set_registers(tracee.id.tid, registers) && out) {
    correct(tracee, out->correction);
  }
  code.note_interrupted(Native::pc(registers));
}

void end_in_function_copy(const Tracee& tracee) {
  ProbedCode& code = probed_code(*tracee.process);
  const auto out = std::exchange(probed_thread(tracee).out_of_copy, std::nullopt);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    return;
  }
  if (out) {
    correct(tracee, out->correction);
  }
  const core::Address pc = Native::pc(out ? out->outside : *registers);
  take_back_transfer(tracee, out ? out->outside : *registers, out && out->is_transferred);
  const auto copy = code.copies().all().of(pc);
  const auto correction = copy != nullptr ? unfinished(*copy, pc) : std::nullopt;
  if (correction) {
    correct(tracee, *correction);
  }
}

void enter_function_copy(const Tracee& tracee, bool is_counted) {
  FunctionCopies& copies = probed_code(*tracee.process).copies();
  const auto registers = ptrace::registers(tracee.id.tid);
  const auto copy = registers ? copies.all().of(Native::pc(*registers)) : nullptr;
  if (copy == nullptr) {
    return;
  }
  if (copy->is_kept(Native::pc(*registers))) {
    if (const auto stays = stay_in_original(*copy, Native::pc(*registers), is_counted)) {
      correct(tracee, *stays);
    }
    count_transfer(tracee, *copy, *registers, core::Clock::now());
    return;
  }
  const auto move = move_to_copy(*copy, *registers, is_counted);
  if (move && ptrace::set_registers(tracee.id.tid, move->registers)) {
    correct(tracee, move->correction);
  }
}

std::optional<core::Address> unserved_breakpoint(const ProbedCode& code, const HeldThread& held,
                                                 core::Address pc, bool was_stepped) {
  const core::Address breakpoint = Native::breakpoint_of_trap(pc);
  if (!code.is_known_site(breakpoint)) {
    return std::nullopt;
  }
  const auto* const delivery = std::get_if<SignalDelivery>(&held.stop);
  if (delivery != nullptr && delivery->signal == SIGTRAP) {
    const auto info = ptrace::signal_info(held.tid);
    return info && Native::is_breakpoint_code(info->si_code) ? std::optional(breakpoint)
                                                             : std::nullopt;
  }
  return !was_stepped && trap_is_pending(code, held.tid, pc, false) ? std::optional(breakpoint)
                                                                    : std::nullopt;
}

void enter_function_copy_behind(const Tracee& tracee, core::Address breakpoint, bool is_counted) {
  ProbedCode& code = probed_code(*tracee.process);
  const auto registers = ptrace::registers(tracee.id.tid);
  const auto copy = code.copies().all().of(breakpoint);
  if (!registers || copy == nullptr || copy->is_kept(breakpoint)) {
    return;  // once the trap is served it stays in the original
  }
  ptrace::Registers at_breakpoint = *registers;
  Native::set_pc(at_breakpoint, breakpoint);
  auto move = move_to_copy(*copy, at_breakpoint, is_counted);
  if (!move) {
    return;
  }
  const core::Address inside = Native::pc(move->registers);
  Native::set_pc(move->registers, inside + (Native::pc(*registers) - breakpoint));
  if (ptrace::set_registers(tracee.id.tid, move->registers)) {
    code.note_moved_trap(inside);
    probed_thread(tracee).moved_trap = inside;
    correct(tracee, move->correction);
  }
}

std::vector<core::Address> sleepers(TraceeTable& tracees, const ProbedCode& code,
                                    const WorldStop& world) {
  std::vector<core::Address> found;
  for (const Tracee* const tracee : tracees.in(code)) {
    if (world.holds(tracee->id.tid)) {
      continue;
    }
    if (const auto call = read_syscall(tracee->id.tid)) {
      found.emplace_back(call->pc);
    }
  }
  return found;
}

void give_counters(const Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  const auto& space = probed_code(*tracee.process).copy_space();
  if (thread.counts_in != nullptr || space == nullptr || !space->slots) {
    return;
  }
  const auto base = space->slots->assign(tracee.id.tid, thread.counted);
  if (!base || (Native::kHasCounterSegment && !set_counter_base(tracee.id.tid, *base))) {
    space->slots->release(tracee.id.tid);
    return;
  }
  thread.counts_in = space;
  thread.tid = tracee.id.tid;
}

}  // namespace sp::supervisor
