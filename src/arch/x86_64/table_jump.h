#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/jump_table.h"
#include "arch/x86_64/move.h"

// The end of a block that goes on where an entry of a table leads, as compilers make it of a switch
// or of computed gotos:
//   jmp *table(,index,8)
//   mov table(,index,8), reg;        jmp *reg
//   movslq (table,index,4), reg; add table, reg; jmp *reg
// Of the second there may be others in front of the jump, which have nothing to do with reg.
namespace sp::arch::x86_64 {

struct TableJump {
  std::size_t instructions = 1;  // so many at the end of the block; the first one reads the table
  std::uint16_t changes = 0;     // general registers that they change, as LiveBefore::registers
  bool changes_flags = false;
  bool is_apart = false;         // there are instructions between: load_from_addresses() is for it
  unsigned index = 0;            // the register with the entry's number
  std::optional<unsigned> base;  // the register that is added to the table's address
  std::int64_t displacement = 0;
};

/// Of the first instruction of `code`.
[[nodiscard]] std::optional<IndexedOperand> indexed_operand(std::span<const std::byte> code);

/// `block`: a whole one. `entry_size` is its table's, in bytes.
[[nodiscard]] std::optional<TableJump> find_table_jump(std::span<const SourceInstruction> block,
                                                       unsigned entry_size);

/// jmp *displacement(base,index,8), a displacement of four bytes at the end, which is 0.
[[nodiscard]] MovedInstruction jump_by_addresses(const TableJump& jump);

/// The same for the load of a jump that is_apart, whose other instructions follow.
[[nodiscard]] MovedInstruction load_from_addresses(const TableJump& jump);

/// lea address, reg
[[nodiscard]] MovedInstruction load_address(unsigned reg, core::Address address);

/// inc and dec qword gs:[offset + 8 * index]. They change all arithmetic flags but CF.
[[nodiscard]] MovedInstruction increment_indexed(std::uint64_t offset, unsigned index);
[[nodiscard]] MovedInstruction decrement_indexed(std::uint64_t offset, unsigned index);

}  // namespace sp::arch::x86_64
