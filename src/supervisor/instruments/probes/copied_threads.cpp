#include "supervisor/instruments/probes/copied_threads.h"

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <utility>

#include "arch/native.h"
#include "supervisor/copies/thread_moves.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

using arch::Native;

void leave_function_copy(const Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  FunctionCopies& copies = probed_code(*tracee.process).copies();
  thread.out_of_copy.reset();
  if (copies.all().empty()) {
    return;
  }
  const auto registers = ptrace::registers(tracee.id.tid);
  const auto copy = registers ? copies.all().at(Native::pc(*registers)) : nullptr;
  if (copy == nullptr) {
    return;
  }
  ThreadMemory memory(tracee.id.tid);
  const auto move = move_to_original(*copy, *registers, memory);
  if (!move || !ptrace::set_registers(tracee.id.tid, move->registers)) {
    return;
  }
  copies.adjust(move->counter, move->adjust);
  thread.out_of_copy = OutOfCopy{*registers, move->registers, move->counter, move->adjust};
}

void return_to_copy(const Tracee& tracee) {
  const auto out = std::exchange(probed_thread(tracee).out_of_copy, std::nullopt);
  if (!out) {
    return;
  }
  FunctionCopies& copies = probed_code(*tracee.process).copies();
  const auto registers = ptrace::registers(tracee.id.tid);
  if (registers && *registers == out->outside &&
      copies.all().at(Native::pc(out->inside)) != nullptr &&
      ptrace::set_registers(tracee.id.tid, out->inside)) {
    copies.adjust(out->counter, -out->adjusted);
  }
}

void stay_out_of_copy(const Tracee& tracee) { probed_thread(tracee).out_of_copy.reset(); }

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

/// Executes the thread's next instructions in its stead, up to where the original code is as it
/// was. A signal that comes from outside may as well have come some instructions later.
void emulate_ahead(const Tracee& tracee, const core::FunctionCopy& copy) {
  constexpr int kMost = 32;
  ProbedCode& code = probed_code(*tracee.process);
  auto registers = ptrace::registers(tracee.id.tid);
  ThreadMemory memory(tracee.id.tid);
  for (int i = 0; registers && i < kMost; ++i) {
    const core::Address pc = Native::pc(*registers);
    if (!copy.original.contains(pc) || copy.changes_from(pc).empty()) {
      break;
    }
    std::array<std::byte, kLongestCode> bytes{};
    (void)code.fetch(pc, bytes);
    if (Native::emulate(*registers, bytes, memory) != arch::Emulated::done) {
      break;
    }
  }
  if (registers) {
    (void)ptrace::set_registers(tracee.id.tid, *registers);
  }
}

}  // namespace

void prepare_for_signal(const Tracee& tracee, CopyInstaller& installer) {
  ProbedThread& thread = probed_thread(tracee);
  if (thread.out_of_copy) {
    translate_fault(tracee.id.tid, *thread.out_of_copy);
  }
  ProbedCode& code = probed_code(*tracee.process);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    return;
  }
  core::Address pc = Native::pc(*registers);
  const auto copy = code.copies().all().of(pc);
  if (copy != nullptr && !copy->changes_from(pc).empty()) {
    if (!is_fault(tracee.id.tid)) {
      emulate_ahead(tracee, *copy);
    }
    const auto now = ptrace::registers(tracee.id.tid);
    pc = now ? Native::pc(*now) : pc;
    if (copy->original.contains(pc) && !copy->changes_from(pc).empty()) {
      installer.give_way(tracee, *copy, pc);
    }
  }
  thread.out_of_copy.reset();
  code.note_interrupted(pc);
}

void enter_function_copy(const Tracee& tracee, bool is_counted) {
  FunctionCopies& copies = probed_code(*tracee.process).copies();
  const auto registers = ptrace::registers(tracee.id.tid);
  const auto copy = registers ? copies.all().of(Native::pc(*registers)) : nullptr;
  if (copy == nullptr) {
    return;
  }
  if (copy->is_kept(Native::pc(*registers))) {
    copies.adjust(copy->blocks[*copy->block_of(Native::pc(*registers))].counter,
                  is_counted ? 0 : 1);  // it stays in the original, behind the block's landing
    return;
  }
  const auto move = move_to_copy(*copy, *registers, is_counted);
  if (move && ptrace::set_registers(tracee.id.tid, move->registers)) {
    copies.adjust(move->counter, move->adjust);
  }
}

std::vector<core::Address> sleepers(TraceeTable& tracees, const ProbedCode& code,
                                    const WorldStop& world) {
  std::vector<core::Address> found;
  for (const Tracee* const tracee : tracees.in(code)) {
    if (world.holds(tracee->id.tid)) {
      continue;
    }
    const auto text = read_proc(fmt::format("/proc/{}/syscall", tracee->id.tid));
    if (const auto call = text ? parse_syscall(*text) : std::nullopt) {
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
  const auto base = space->slots->assign(tracee.id.tid);
  if (!base || !set_counter_base(tracee.id.tid, *base)) {
    space->slots->release(tracee.id.tid);
    return;
  }
  thread.counts_in = space;
  thread.tid = tracee.id.tid;
}

}  // namespace sp::supervisor
