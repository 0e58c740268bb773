#include "arch/symbolic_values.h"

#include <cstddef>

#include "arch/widths.h"

namespace sp::arch {

SymbolicValues::SymbolicValues() {
  for (unsigned reg = 0; reg < kRegisters; ++reg) {
    registers_[reg] = initial(reg);
  }
}

RegisterEffect SymbolicValues::effect_on(unsigned reg) const {
  if (registers_[reg] == initial(reg)) {
    return {};
  }
  const SymbolicValue& value = registers_[reg];
  if (value.is_constant()) {
    return {true, value.constant, std::nullopt};
  }
  const auto from = initial_register(value.terms[0]);
  return from && value.terms[1].symbol == 0 ? RegisterEffect{true, value.constant, from}
                                            : RegisterEffect{true, std::nullopt, std::nullopt};
}

SymbolicValue SymbolicValues::load(const SymbolicValue& from, unsigned width, bool is_signed) {
  for (const Stored& stored : stored_) {
    if (stored.at == from && stored.width == width) {
      return extend(stored.value, width, is_signed);
    }
  }
  return loaded(from, width, is_signed, memory_);
}

void SymbolicValues::store(const SymbolicValue& to, unsigned width, const SymbolicValue& value) {
  ++memory_;
  std::erase_if(stored_, [&](const Stored& stored) {
    const std::uint64_t above = stored.at.constant - to.constant;
    const std::uint64_t below = to.constant - stored.at.constant;
    const bool apart = stored.at.terms == to.terms && above >= width && below >= stored.width;
    return !apart;
  });
  stored_.push_back({to, width, value});
}

void SymbolicValues::forget_memory() {
  ++memory_;
  stored_.clear();
}

void SymbolicValues::compare(const SymbolicValue& a, const SymbolicValue& b, unsigned width) {
  flags_ = Flags{extend(a, width, false), extend(b, width, false), width, false};
}

void SymbolicValues::assume(Relation relation) {
  if (!flags_) {
    return;
  }
  if (relation == Relation::not_equal) {
    flags_->unequal = true;
    if (flags_->b.is_constant() && flags_->b.constant != 0 &&
        most(flags_->a) == flags_->b.constant) {
      bound(flags_->a, flags_->b.constant - 1);
    }
    return;
  }
  for (const SymbolicValue& value : {flags_->a, flags_->b}) {
    if (const auto limit = limit_of(relation, value)) {
      bound(value, *limit);
    }
  }
}

std::optional<std::uint64_t> SymbolicValues::most_if(Relation relation,
                                                     const SymbolicValue& value) {
  const auto limit = flags_ ? limit_of(relation, value) : std::nullopt;
  return limit ? limit : most(value);
}

// What a relation between a and b says of one of them, where the other is constant.
std::optional<std::uint64_t> SymbolicValues::limit_of(Relation relation,
                                                      const SymbolicValue& value) const {
  const bool is_a = flags_->b.is_constant() && value == flags_->a;
  const bool is_b = flags_->a.is_constant() && value == flags_->b;
  if (value.is_constant() || is_a == is_b) {
    return std::nullopt;
  }
  const std::uint64_t other = is_a ? flags_->b.constant : flags_->a.constant;
  const bool positive = most(value).value_or(kUnbounded) <= most_positive(flags_->width) &&
                        other <= most_positive(flags_->width);
  const bool is_signed = relation == Relation::less || relation == Relation::less_or_equal ||
                         relation == Relation::greater || relation == Relation::greater_or_equal;
  if (is_signed && !positive) {
    return std::nullopt;
  }
  const bool up_to =
      is_a ? relation == Relation::below_or_equal || relation == Relation::less_or_equal
           : relation == Relation::above_or_equal || relation == Relation::greater_or_equal;
  const bool less = is_a ? relation == Relation::below || relation == Relation::less
                         : relation == Relation::above || relation == Relation::greater;
  if (up_to && !(flags_->unequal && other != 0)) {
    return other;
  }
  return (up_to || less) && other != 0 ? std::optional(other - 1) : std::nullopt;
}

}  // namespace sp::arch
