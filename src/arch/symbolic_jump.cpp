#include "arch/symbolic_jump.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "arch/widths.h"

namespace sp::arch {
namespace {

using Term = SymbolicValue::Term;

/// No switch has more cases. A byte or two that no comparison bounds may have so many values.
constexpr std::uint64_t kMostEntries = 16384;

/// A table of distances from itself. It begins at its base, whatever the index begins with.
std::optional<JumpTable> relative_to_itself(JumpTable table) {
  table.first = table.base;
  const bool is_one = table.base != core::Address{} && table.is_signed && table.shift == 0;
  return is_one ? std::optional(table) : std::nullopt;
}

/// A difference of two pointers, say, is an index that nothing bounds.
bool is_index(const SymbolicValue& of, unsigned width) {
  return width == 4 && of.terms[0].factor % width == 0 && of.terms[1].factor % width == 0;
}

/// The table with its number of entries, from the bound of its index.
JumpOnPath bounded(const SymbolicExpressions& expressions, JumpTable table, const Term& index) {
  const SymbolicExpressions::Symbol& symbol = expressions.symbol_of(index);
  std::uint64_t most = expressions.most_of(symbol);
  bool is_checked = symbol.is_checked || (symbol.is_signed && most != kUnbounded);
  for (const SymbolicExpressions::Bound& known : expressions.bounds()) {
    // The sum of the index and a constant was compared: the index begins with its negative.
    if (known.value.terms[0] == Term{index.symbol, 1} && known.value.terms[1].symbol == 0 &&
        known.most < most) {
      most = known.most;
      is_checked = true;
      table.first = table.first - known.value.constant * index.factor;
      break;
    }
  }
  JumpOnPath found;
  found.unbounded = relative_to_itself(table);
  if (most < kMostEntries) {
    table.entries = most + 1;
    found.table = table;
    found.is_checked = is_checked;
  }
  return found;
}

/// The table that `entry` is loaded from; `base` plus `factor` times the entry is the destination.
JumpOnPath table_of(const SymbolicExpressions& expressions,
                    const SymbolicExpressions::Symbol& entry, std::uint64_t factor,
                    std::uint64_t base) {
  if (!std::has_single_bit(factor) || factor > 8 || (entry.width == 8 && factor != 1)) {
    return {};
  }
  const JumpTable table{core::Address{entry.of.constant},
                        0,
                        static_cast<std::uint8_t>(entry.width),
                        entry.is_signed,
                        static_cast<std::uint8_t>(std::countr_zero(factor)),
                        core::Address{base}};
  if (entry.of.terms[1].symbol != 0 && (entry.of.constant - base) % entry.width == 0 &&
      is_index(entry.of, entry.width)) {
    return {std::nullopt, relative_to_itself(table), false, std::nullopt};
  }
  for (std::size_t i = 0; i < entry.of.terms.size(); ++i) {
    const Term& index = entry.of.terms[i];
    const Term& other = entry.of.terms[1 - i];
    if (index.symbol == 0 || index.factor != entry.width) {
      continue;
    }
    if (other.symbol == 0) {
      return bounded(expressions, table, index);
    }
    // With entries of one byte both look alike: the one that can be anything is the table.
    if (const auto known = expressions.initial_register(other);
        known && !expressions.symbol_of(other).most) {
      return {std::nullopt, std::nullopt, false, known};
    }
  }
  return {};
}

}  // namespace

JumpOnPath jump_to(const SymbolicExpressions& expressions, const SymbolicValue& destination) {
  if (destination.is_constant()) {
    JumpTable only;  // nothing is read
    only.entries = 1;
    only.entry_size = 0;
    only.base = core::Address{destination.constant};
    return {only, std::nullopt, true, std::nullopt};
  }
  if (destination.is_symbol()) {
    if (const auto reg = expressions.initial_register(destination.terms[0])) {
      return {std::nullopt, std::nullopt, false, reg};
    }
  }
  for (std::size_t i = 0; i < destination.terms.size(); ++i) {
    const Term& term = destination.terms[i];
    const Term& other = destination.terms[1 - i];
    if (term.symbol == 0 || expressions.symbol_of(term).kind != SymbolicExpressions::Kind::load) {
      continue;
    }
    if (const auto base = expressions.initial_register(other)) {
      return {std::nullopt, std::nullopt, false, base};
    }
    if (other.symbol == 0) {
      return table_of(expressions, expressions.symbol_of(term), term.factor, destination.constant);
    }
  }
  return {};
}

}  // namespace sp::arch
