#include "supervisor/instruments/probes/copied_transfers.h"

#include <array>
#include <cstddef>
#include <optional>

#include "arch/native.h"
#include "supervisor/breakpoints/edge_flow.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// What is written there is not.
class ReadMemory final : public arch::MemoryAccess {
 public:
  explicit ReadMemory(pid_t tid) : memory_(tid) {}
  [[nodiscard]] bool read(Address from, std::span<std::byte> to) override {
    return memory_.read(from, to);
  }
  [[nodiscard]] bool write(Address /*to*/, std::span<const std::byte> /*from*/) override {
    return true;
  }

 private:
  ThreadMemory memory_;
};

struct Transfer {
  core::Instruction instruction;
  Address target;
  std::uint32_t site = 0;
};

std::optional<Transfer> transfer_at(const Tracee& tracee, const core::FunctionCopy& copy,
                                    ptrace::Registers registers) {
  const Address pc = Native::pc(registers);
  const auto index = copy.block_of(pc);
  if (!index || !copy.blocks[*index].counts_transfer || !probed_thread(tracee).counted) {
    return std::nullopt;
  }
  std::array<std::byte, kLongestCode> bytes{};
  (void)probed_code(*tracee.process).fetch(pc, bytes);
  const auto instruction = Native::decode(bytes, pc);
  const core::CopiedBlock& block = copy.blocks[*index];
  ReadMemory memory(tracee.id.tid);
  if (!instruction || instruction->next() != block.start + block.size ||
      Native::emulate(registers, bytes, memory) != arch::Emulated::done) {
    return std::nullopt;
  }
  return Transfer{*instruction, Native::pc(registers), block.site()};
}

/// The event in front of the instruction there was written, and it is not executed.
void take_back_event(const Tracee& tracee, const core::FunctionCopy& copy, Address pc) {
  const auto block = copy.block_of(pc);
  if (block && copy.blocks[*block].event_at == pc && probed_thread(tracee).counts_in != nullptr) {
    probed_thread(tracee).counts_in->slots->take_back_event(tracee.id.tid);
  }
}

}  // namespace

void count_transfer(const Tracee& tracee, const core::FunctionCopy& copy,
                    const ptrace::Registers& registers, core::TimePoint now) {
  const auto& trace = probed_code(*tracee.process).trace();
  if (trace && trace->recorder != nullptr) {
    trace->recorder->note_unseen(tracee, copy, registers, now);
  }
  if (const auto transfer = transfer_at(tracee, copy, registers)) {
    probed_code(*tracee.process)
        .copies()
        .count_edge(transfer->instruction.address, transfer->target,
                    edge_flow(transfer->instruction, transfer->target), now);
  }
}

void take_back_transfer(const Tracee& tracee, const ptrace::Registers& registers,
                        bool is_transferred) {
  ProbedCode& code = probed_code(*tracee.process);
  const Address pc = Native::pc(registers);
  const auto copy = code.copies().all().of(pc);
  if (copy != nullptr && is_transferred) {
    take_back_event(tracee, *copy, pc);
  }
  const bool is_counted = is_transferred || (copy != nullptr && copy->is_kept(pc) &&
                                             !Native::leaving_syscall(registers));
  const auto transfer =
      copy != nullptr && is_counted ? transfer_at(tracee, *copy, registers) : std::nullopt;
  if (transfer) {
    code.copy_space()->slots->take_back_transfer(tracee.id.tid, transfer->site, transfer->target);
  }
}

void make_room_for_transfers(const ProbedThread& thread) {
  if (thread.counts_in != nullptr) {
    thread.counts_in->slots->make_room_for_transfers(thread.tid);
  }
}

}  // namespace sp::supervisor
