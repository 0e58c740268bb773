#include "arch/x86_64/emulate.h"

#include "arch/x86_64/emulate_step.h"

namespace sp::arch::x86_64 {
namespace {

/// F3 is part of these two opcodes; the manuals define them with no other prefix that matters.
bool has_only_rep(const Encoding& encoding) {
  return encoding.rep && encoding.rex == 0 && !encoding.operand_size_prefix;
}

bool is_endbr(const Encoding& encoding) {
  return encoding.map == OpcodeMap::two_byte && encoding.opcode == 0x1E && has_only_rep(encoding) &&
         (encoding.modrm == 0xFA || encoding.modrm == 0xFB);
}

bool is_pause(const Encoding& encoding) {
  return encoding.map == OpcodeMap::one_byte && encoding.opcode == 0x90 && has_only_rep(encoding);
}

Emulated emulate_step(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const Emulated transferred = emulate_transfer(step);
  if (transferred != Emulated::not_emulated) {
    return transferred;
  }
  if (is_endbr(encoding) || is_pause(encoding)) {
    return step.finish();
  }
  if (encoding.rep || encoding.repne) {
    return Emulated::not_emulated;  // with these, some opcodes are other instructions
  }
  const Emulated computed = emulate_arithmetic(step);
  return computed == Emulated::not_emulated ? emulate_data(step) : computed;
}

}  // namespace

unsigned EmulatedStep::whole_width() const {
  if (encoding.wide()) {
    return 8;
  }
  return encoding.operand_size_prefix ? 2 : 4;
}

unsigned EmulatedStep::width() const { return (encoding.opcode & 1U) == 0 ? 1 : whole_width(); }

std::optional<std::uint64_t> EmulatedStep::read_operand(unsigned width) {
  if (encoding.names_register()) {
    return read_register(registers, encoding.rm(), width, has_rex());
  }
  return load(memory, effective_address(registers, encoding), width);
}

Emulated EmulatedStep::finish() {
  registers.rip = next();
  return Emulated::done;
}

Emulated EmulatedStep::go_to(std::uint64_t target) {
  constexpr std::uint64_t kEndOfUserSpace = 1ULL << 47U;  // with four-level page tables
  if (target >= kEndOfUserSpace) {
    return Emulated::not_emulated;
  }
  registers.rip = target;
  return Emulated::done;
}

Emulated EmulatedStep::push(std::uint64_t value) {
  registers.rsp -= 8;
  return store(memory, core::Address{registers.rsp}, value) ? Emulated::done
                                                            : Emulated::memory_refused;
}

Emulated emulate(Registers& registers, std::span<const std::byte> code, MemoryAccess& memory) {
  const std::optional<Encoding> encoding = read_encoding(code);
  if (!encoding || encoding->lock || encoding->conflicting_prefixes) {
    return Emulated::not_emulated;
  }
  EmulatedStep step{registers, *encoding, memory};
  const Emulated outcome = emulate_step(step);
  if (outcome == Emulated::done) {
    registers = step.registers;
  }
  return outcome;
}

}  // namespace sp::arch::x86_64
