#include "supervisor/injection/transfer_rests.h"

#include <fmt/format.h>
#include <signal.h>

#include <span>
#include <variant>
#include <vector>

#include "arch/native.h"
#include "supervisor/injection/remote_stops.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/visible_signals.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTransferStub;
using arch::NativeTrapHandler;
using core::Address;

bool is_step(pid_t tid, const WaitStatus& status) {
  const auto* const delivery = std::get_if<SignalDelivery>(&status);
  if (delivery == nullptr || delivery->signal != SIGTRAP) {
    return false;
  }
  const auto info = ptrace::signal_info(tid);
  return info && Native::is_step_code(Native::trap_code(*info));
}

/// The thread comes out of a 64-bit system call instruction.
bool is_behind_call(pid_t tid, ptrace::Registers registers) {
  Native::set_pc(registers, Native::pc(registers) - NativeTrapHandler::kSyscall.size());
  return stands_before_call(tid, registers);
}

/// Puts the thread to where its call returns that sum. It may have been given another slot of
/// counters since `returning` was read: that is taken from `now`.
void settle(pid_t tid, ptrace::Registers returning, const ptrace::Registers& now,
            std::uint64_t sum) {
  Native::set_counter_base(returning, Native::counter_base(now));
  NativeTransferStub::set_result(returning, sum);
  (void)ptrace::set_registers(tid, returning);
}

}  // namespace

void TransferRests::take_over(core::ProcessId process, core::ThreadId thread) {
  const auto& area = area_of(process, thread.tid);
  const auto registers = area ? ptrace::registers(thread.tid) : core::fail("");
  const auto offset = registers ? area->offset_of(Native::pc(*registers)) : std::nullopt;
  const auto slot = offset ? area->slot_of(thread.tid) : std::nullopt;
  if (slot) {
    settle(thread.tid, NativeTransferStub::returning(*registers, *slot), *registers,
           NativeTransferStub::sum(*registers, *offset));
  }
}

bool TransferRests::on_stop(core::ThreadId thread, const WaitStatus& status, bool is_awaited,
                            const std::function<void()>& resume) {
  const auto found = rests_.find(thread);
  if (found == rests_.end()) {
    return false;
  }
  Rest& rest = found->second;
  const auto registers = ptrace::registers(thread.tid);
  const auto offset = registers ? rest.area.offset_of(Native::pc(*registers)) : std::nullopt;
  if (offset && std::holds_alternative<AtSyscall>(status)) {
    if (is_awaited) {
      (void)ptrace::interrupt(thread.tid);  // this stop has taken the place of that one
    }
    (void)ptrace::resume_to_syscall(thread.tid, 0);
    return true;
  }
  if (offset && is_step(thread.tid, status)) {
    rest.is_stepped = true;
    (void)ptrace::step(thread.tid, 0);
    return true;
  }
  if (offset) {
    settle(thread.tid, rest.returning, *registers, NativeTransferStub::sum(*registers, *offset));
    rests_.erase(found);
    return false;
  }
  const bool was_last_step = rest.is_stepped && registers &&
                             Native::pc(*registers) == Native::pc(rest.returning) &&
                             is_step(thread.tid, status);
  if (!was_last_step) {
    rests_.erase(found);
    return false;
  }
  // The steps have left their flag in a register.
  settle(thread.tid, rest.returning, *registers,
         static_cast<std::uint64_t>(NativeTrapHandler::result(*registers)));
  rests_.erase(found);
  resume();
  return true;
}

void TransferRests::begin(core::ProcessId process, core::ThreadId thread, int signal) {
  if (!NativeTransferStub::kIsAvailable) {
    return;
  }
  const pid_t tid = thread.tid;
  const auto registers = ptrace::registers(tid);
  const auto returning = registers ? NativeTransferStub::returning(*registers) : std::nullopt;
  const auto scratch = returning ? scratch_of(returning->call) : std::nullopt;
  if (!scratch || !is_behind_call(tid, *registers)) {
    return;
  }
  // First a look without a place, which need not be found for most.
  const ShortTransfer transfer{returning->call, returning->count};
  if (!rest_of(tid, transfer, Address{}, false) || sees_signal(tid, signal) ||
      ptrace::dispatches_syscalls(tid)) {
    return;
  }
  const auto& area = area_of(process, tid);
  if (area && area->offset_of(Native::pc(*registers))) {
    return;  // what cannot be taken over needs its slot
  }
  const auto place = area ? area->slot_for(tid, *scratch) : std::nullopt;
  if (!place) {
    return;
  }
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  const bool is_free = status && status_field(*status, "Seccomp") == "0";
  const auto rest = rest_of(tid, transfer, TransferArea::scratch_of(*place), is_free);
  if (!rest) {
    return;
  }
  NativeTransferStub::Slot slot =
      NativeTransferStub::slot(*registers, static_cast<std::uint64_t>(tid));
  if (rest->second) {
    slot.minus_first_length = -rest->first_length;
    slot.second = *rest->second;
  }
  const auto slot_bytes = std::as_bytes(std::span(&slot, 1));
  std::vector<std::byte> bytes(slot_bytes.begin(), slot_bytes.end());
  bytes.insert(bytes.end(), rest->scratch.begin(), rest->scratch.end());
  if (TargetMemory(tid).write(*place, bytes) &&
      ptrace::set_registers(
          tid, NativeTransferStub::begin(*registers, area->code(), *place, rest->first))) {
    rests_.insert_or_assign(thread, Rest{*registers, *area});
  }
}

const std::optional<TransferArea>& TransferRests::area_of(core::ProcessId process, pid_t tid) {
  const auto [found, is_new] = areas_.try_emplace(process);
  if (is_new) {
    found->second = TransferArea::find(tid);
  }
  return found->second;
}

void TransferRests::forget(core::ProcessId process, core::ThreadId thread) {
  const auto area = areas_.find(process);
  if (area == areas_.end() || !area->second) {
    return;
  }
  const auto registers = ptrace::registers(thread.tid);
  if (registers && !area->second->offset_of(Native::pc(*registers))) {
    area->second->release(thread.tid);
  } else if (registers) {
    left_in_.insert(process);
  }
  rests_.erase(thread);
}

void TransferRests::remove_code() const {
  for (const auto& [process, area] : areas_) {
    // A thread that was left in it may be in a handler by now, to which that place shows nowhere.
    if (area && !left_in_.contains(process)) {
      area->remove_if_unused(process.pid);
    }
  }
}

}  // namespace sp::supervisor
