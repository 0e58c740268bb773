#pragma once

#include <cstdint>
#include <optional>

#include "core/address.h"

namespace sp::core {

/// How control leaves an instruction.
enum class Flow : std::uint8_t {
  next,           // always the following instruction
  jump,           // direct, always taken
  branch,         // direct, conditional
  call,           // direct
  indirect_jump,  // destination from a register or memory
  indirect_call,
  ret,
  syscall,  // enters the kernel and normally returns to the next instruction
  stop,     // traps or halts: int3, ud2, hlt, brk, udf
};

/// True where the instruction ends a basic block.
[[nodiscard]] constexpr bool ends_block(Flow flow) {
  return flow != Flow::next && flow != Flow::syscall;
}

/// True where the instruction takes its destination from a register or from memory.
[[nodiscard]] constexpr bool is_indirect(Flow flow) {
  return flow == Flow::ret || flow == Flow::indirect_call || flow == Flow::indirect_jump;
}

/// One decoded machine instruction.
struct Instruction {
  Address address;
  std::uint8_t length = 0;  // bytes
  Flow flow = Flow::next;
  std::optional<Address> target;  // of direct jumps, branches and calls

  [[nodiscard]] Address next() const { return address + length; }
};

}  // namespace sp::core
