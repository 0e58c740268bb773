#include "arch/x86_64/table_jump.h"

#include <bit>

#include "arch/x86_64/operands.h"
#include "arch/x86_64/register_effects.h"

namespace sp::arch::x86_64 {
namespace {

constexpr unsigned kScaleOf8 = 3U << 6U;

std::uint16_t bit(unsigned reg) { return static_cast<std::uint16_t>(1U << reg); }

bool is_plain(const Encoding& encoding) {
  return encoding.map == OpcodeMap::one_byte && !encoding.address_size_prefix && !encoding.lock &&
         encoding.segment == Segment::flat && !encoding.rep && !encoding.repne;
}

/// Fills in what the operand says.
bool reads_table(const Encoding& read, unsigned entry_size, TableJump& jump) {
  constexpr unsigned kNoIndex = 4;
  constexpr unsigned kNoBase = 5;
  const unsigned scale = 1U << (read.sib >> 6U);
  if (!is_plain(read) || !read.names_memory() || !read.has_sib || read.index() == kNoIndex ||
      scale != entry_size) {
    return false;
  }
  jump.index = read.index();
  if (read.mod() != 0 || (read.sib & 7U) != kNoBase) {
    jump.base = read.base();
  }
  jump.displacement = read.displacement;
  return jump.base != kRsp;
}

/// jmp *%reg
bool is_jump_by(const Encoding& jump, unsigned reg) {
  constexpr unsigned kJump = 4;
  return is_plain(jump) && jump.opcode == 0xFF && jump.extension() == kJump &&
         jump.names_register() && jump.rm() == reg;
}

bool is_wide(const Encoding& encoding, unsigned opcode) {
  return is_plain(encoding) && encoding.opcode == opcode && encoding.wide();
}

/// The register that a sum of two is in; nothing if it is not one that has `term`.
std::optional<unsigned> sum_with(const Encoding& add, unsigned term) {
  const bool to_rm = is_wide(add, 0x01);
  if ((!to_rm && !is_wide(add, 0x03)) || !add.names_register() || add.reg() == add.rm() ||
      (add.reg() != term && add.rm() != term)) {
    return std::nullopt;
  }
  return to_rm ? add.rm() : add.reg();
}

MovedInstruction count_indexed(unsigned extension, std::uint64_t offset, unsigned index) {
  constexpr unsigned kDisplacementAlone = 5;
  MovedInstruction count;
  count.append({0x65, 0x48U | ((index >> 3U) << 1U), 0xFF, (extension << 3U) | 4U,
                kScaleOf8 | ((index & 7U) << 3U) | kDisplacementAlone});
  count.append_number(offset, 4);
  return count;
}

/// Of a jump by a register.
std::optional<TableJump> find_load_of_address(std::span<const SourceInstruction> block) {
  constexpr std::size_t kMost = 16;
  constexpr unsigned kAddress = 8;
  const Encoding& last = block.back().encoding;
  const unsigned reg = last.rm();
  if (!is_jump_by(last, reg)) {
    return std::nullopt;
  }
  for (std::size_t i = 2; i <= block.size() && i <= kMost; ++i) {
    const SourceInstruction& source = block[block.size() - i];
    const RegisterEffects effects = register_effects(source.encoding);
    TableJump jump;
    if (is_wide(source.encoding, 0x8B) && source.encoding.reg() == reg &&
        reads_table(source.encoding, kAddress, jump)) {
      jump.instructions = i;
      jump.changes = bit(reg);
      jump.is_apart = i > 2;
      return jump;
    }
    if (source.instruction.flow != core::Flow::next ||
        ((effects.reads | effects.overwrites) & bit(reg)) != 0) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// An instruction with displacement(base,index,8), whose displacement is 0.
MovedInstruction with_addresses(const TableJump& jump, unsigned opcode, unsigned reg,
                                bool is_wide) {
  constexpr unsigned kDisplacementAlone = 5;
  const unsigned base = jump.base.value_or(kDisplacementAlone);
  const unsigned rex =
      (is_wide ? 8U : 0U) | ((reg >> 3U) << 2U) | ((jump.index >> 3U) << 1U) | (base >> 3U);
  MovedInstruction moved;
  if (rex != 0) {
    moved.append({0x40U | rex});
  }
  const unsigned mod = jump.base ? 2U << 6U : 0;  // with no base there is a displacement anyway
  moved.append(
      {opcode, mod | ((reg & 7U) << 3U) | 4U, kScaleOf8 | ((jump.index & 7U) << 3U) | (base & 7U)});
  moved.append_number(0, 4);
  return moved;
}

}  // namespace

std::optional<IndexedOperand> indexed_operand(std::span<const std::byte> code) {
  const auto encoding = read_encoding(code);
  TableJump read;
  if (!encoding || !encoding->has_sib) {
    return std::nullopt;
  }
  const unsigned scale = 1U << (encoding->sib >> 6U);
  if (!reads_table(*encoding, scale, read)) {
    return std::nullopt;
  }
  return IndexedOperand{read.base, static_cast<std::uint64_t>(read.displacement), scale};
}

std::optional<TableJump> find_table_jump(std::span<const SourceInstruction> block,
                                         unsigned entry_size) {
  constexpr unsigned kJump = 4;
  constexpr unsigned kAddress = 8;
  constexpr unsigned kDistance = 4;
  const auto from_end = [&block](std::size_t i) -> const Encoding& {
    return block[block.size() - i].encoding;
  };
  TableJump jump;
  if (block.empty()) {
    return std::nullopt;
  }
  const Encoding& last = from_end(1);
  if (last.names_memory()) {
    const bool is_jump = last.opcode == 0xFF && last.extension() == kJump;
    return is_jump && entry_size == kAddress && reads_table(last, entry_size, jump)
               ? std::optional(jump)
               : std::nullopt;
  }
  if (entry_size == kAddress) {
    return find_load_of_address(block);
  }
  if (entry_size == kDistance && block.size() >= 3) {
    const Encoding& load = from_end(3);
    const auto sum = sum_with(from_end(2), load.reg());
    if (!is_wide(load, 0x63) || !sum || !is_jump_by(last, *sum) ||
        !reads_table(load, entry_size, jump)) {
      return std::nullopt;
    }
    jump.instructions = 3;
    jump.changes = static_cast<std::uint16_t>(bit(load.reg()) | bit(*sum));
    jump.changes_flags = true;
    return jump;
  }
  return std::nullopt;
}

MovedInstruction jump_by_addresses(const TableJump& jump) {
  constexpr unsigned kJump = 4;
  return with_addresses(jump, 0xFF, kJump, false);
}

MovedInstruction load_from_addresses(const TableJump& jump) {
  return with_addresses(jump, 0x8B, static_cast<unsigned>(std::countr_zero(jump.changes)), true);
}

MovedInstruction load_address(unsigned reg, core::Address address) {
  MovedInstruction lea;
  lea.append({0x48U | ((reg >> 3U) << 2U), 0x8D, ((reg & 7U) << 3U) | 5U});
  lea.append_displacement(4, address);
  return lea;
}

MovedInstruction increment_indexed(std::uint64_t offset, unsigned index) {
  return count_indexed(0, offset, index);
}

MovedInstruction decrement_indexed(std::uint64_t offset, unsigned index) {
  return count_indexed(1, offset, index);
}

}  // namespace sp::arch::x86_64
