#include "arch/symbolic_values.h"

#include <algorithm>
#include <bit>

namespace sp::arch {
namespace {

using Term = SymbolicValue::Term;

constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};
/// More cases than any switch has; a byte or two that were never compared give that many.
constexpr std::uint64_t kMostEntries = 16384;

std::uint64_t mask_of(unsigned width) {
  return width >= 8 ? kUnbounded : (std::uint64_t{1} << (8U * width)) - 1;
}

std::uint64_t widen(std::uint64_t value, unsigned width, bool is_signed) {
  const std::uint64_t low = value & mask_of(width);
  const std::uint64_t sign = std::uint64_t{1} << (8U * width - 1U);
  return is_signed ? (low ^ sign) - sign : low;
}

/// The largest that stays the same when its sign is widened.
std::uint64_t most_positive(unsigned width) { return mask_of(width) >> 1U; }

}  // namespace

Relation opposite(Relation relation) {
  switch (relation) {
    case Relation::above:
      return Relation::below_or_equal;
    case Relation::above_or_equal:
      return Relation::below;
    case Relation::below:
      return Relation::above_or_equal;
    case Relation::below_or_equal:
      return Relation::above;
    case Relation::greater:
      return Relation::less_or_equal;
    case Relation::greater_or_equal:
      return Relation::less;
    case Relation::less:
      return Relation::greater_or_equal;
    case Relation::less_or_equal:
      return Relation::greater;
    case Relation::equal:
      return Relation::not_equal;
    case Relation::not_equal:
      return Relation::equal;
    case Relation::other:
      return Relation::other;
  }
  return Relation::other;
}

SymbolicValues::SymbolicValues() {
  symbols_.reserve(kRegisters + 8);
  symbols_.resize(1);
  for (SymbolicValue& value : registers_) {
    Symbol initial;
    initial.kind = Kind::initial;
    value = symbol(initial);
  }
}

SymbolicValue SymbolicValues::symbol(const Symbol& symbol) {
  symbols_.push_back(symbol);
  SymbolicValue value;
  value.terms[0] = {static_cast<std::uint32_t>(symbols_.size() - 1), 1};
  return value;
}

bool SymbolicValues::is_untouched(unsigned reg) const {
  return registers_[reg].is_symbol() && registers_[reg].terms[0].symbol == reg + 1;
}

RegisterEffect SymbolicValues::effect_on(unsigned reg) const {
  if (is_untouched(reg)) {
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

SymbolicValue SymbolicValues::unknown(std::optional<std::uint64_t> most) {
  Symbol opaque;
  opaque.kind = Kind::opaque;
  opaque.most = most;
  return symbol(opaque);
}

SymbolicValue SymbolicValues::add(const SymbolicValue& a, const SymbolicValue& b) {
  SymbolicValue sum{a.constant + b.constant, a.terms};
  for (const Term& term : b.terms) {
    if (term.symbol == 0) {
      break;
    }
    const auto same = std::find_if(sum.terms.begin(), sum.terms.end(), [&](const Term& other) {
      return other.symbol == term.symbol || other.symbol == 0;
    });
    if (same == sum.terms.end()) {
      return unknown();
    }
    *same = {term.symbol, same->factor + term.factor};
    if (same->factor == 0) {
      *same = {};
    }
    if (sum.terms[0].symbol == 0 ||
        (sum.terms[1].symbol != 0 && sum.terms[1].symbol < sum.terms[0].symbol)) {
      std::swap(sum.terms[0], sum.terms[1]);
    }
  }
  return sum;
}

SymbolicValue SymbolicValues::multiply(const SymbolicValue& a, std::uint64_t factor) {
  SymbolicValue product{a.constant * factor, a.terms};
  for (Term& term : product.terms) {
    term.factor *= factor;
    if (term.symbol != 0 && term.factor == 0) {
      return unknown();
    }
  }
  return product;
}

SymbolicValue SymbolicValues::extend(const SymbolicValue& value, unsigned width, bool is_signed) {
  if (width >= 8) {
    return value;
  }
  if (value.is_constant()) {
    return constant(widen(value.constant, width, is_signed));
  }
  const std::uint64_t fits = is_signed ? most_positive(width) : mask_of(width);
  if (most(value).value_or(kUnbounded) <= fits) {
    return value;
  }
  Symbol wanted;
  wanted.kind = Kind::extension;
  wanted.of = value;
  if (value.is_symbol()) {
    const Symbol& inner = symbols_[value.terms[0].symbol];
    const bool cuts = inner.kind == Kind::extension || inner.kind == Kind::load;
    if (cuts && inner.width <= width && inner.is_signed && is_signed) {
      return value;
    }
    if (cuts && inner.width >= width) {  // the lowest bytes are those of what it is made of
      wanted = inner;
    }
  }
  wanted.width = width;
  wanted.is_signed = is_signed;
  wanted.most.reset();
  wanted.is_checked = false;
  for (std::uint32_t i = 1; i < symbols_.size(); ++i) {
    const Symbol& known = symbols_[i];
    if (known.kind == wanted.kind && known.of == wanted.of && known.width == width &&
        known.is_signed == is_signed && known.memory == wanted.memory) {
      return {0, {Term{i, 1}, {}}};
    }
  }
  return symbol(wanted);
}

std::uint64_t SymbolicValues::most_of(const Symbol& symbol) const {
  std::uint64_t most = symbol.most.value_or(kUnbounded);
  if (symbol.kind != Kind::extension && symbol.kind != Kind::load) {
    return most;
  }
  if (!symbol.is_signed) {
    return std::min(most, mask_of(symbol.width));
  }
  for (const Symbol& other : symbols_) {  // the same bytes, widened with zeros
    if (other.kind == symbol.kind && other.of == symbol.of && other.width == symbol.width &&
        other.memory == symbol.memory && !other.is_signed && other.most &&
        *other.most <= most_positive(symbol.width)) {
      most = std::min(most, *other.most);
    }
  }
  return most;
}

std::optional<std::uint64_t> SymbolicValues::most(const SymbolicValue& value) const {
  if (value.is_constant()) {
    return value.constant;
  }
  for (const Bound& known : bounds_) {
    if (known.value == value) {
      return known.most;
    }
  }
  const Term& term = value.terms[0];
  const std::uint64_t most = most_of(symbols_[term.symbol]);
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 40U;
  if (value.is_symbol()) {
    return most == kUnbounded ? std::nullopt : std::optional(most);
  }
  if (value.terms[1].symbol != 0 || most > kSmall || term.factor > 4096 || value.constant > kSmall) {
    return std::nullopt;
  }
  return value.constant + term.factor * most;
}

SymbolicValue SymbolicValues::load(const SymbolicValue& from, unsigned width, bool is_signed) {
  for (const Stored& stored : stored_) {
    if (stored.at == from && stored.width == width) {
      return extend(stored.value, width, is_signed);
    }
  }
  Symbol wanted;
  wanted.kind = Kind::load;
  wanted.of = from;
  wanted.width = width;
  wanted.is_signed = is_signed;
  wanted.memory = memory_;
  for (std::uint32_t i = 1; i < symbols_.size(); ++i) {
    const Symbol& known = symbols_[i];
    if (known.kind == Kind::load && known.of == from && known.width == width &&
        known.is_signed == is_signed && known.memory == memory_) {
      return {0, {Term{i, 1}, {}}};
    }
  }
  return symbol(wanted);
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

void SymbolicValues::bound(const SymbolicValue& value, std::uint64_t most) {
  if (value.is_constant()) {
    return;
  }
  if (value.is_symbol()) {
    Symbol& symbol = symbols_[value.terms[0].symbol];
    if (most_of(symbol) >= most) {
      symbol.most = most;
      symbol.is_checked = true;
    }
    return;
  }
  bounds_.push_back({value, most});
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

std::optional<std::uint64_t> SymbolicValues::most_if(Relation relation, const SymbolicValue& value) {
  const auto limit = flags_ ? limit_of(relation, value) : std::nullopt;
  return limit ? limit : most(value);
}

// What a relation between a and b says of one of them, where the other is constant.
std::optional<std::uint64_t> SymbolicValues::limit_of(Relation relation, const SymbolicValue& value) const {
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

std::optional<unsigned> SymbolicValues::initial_register(Term term) const {
  if (term.symbol == 0 || symbols_[term.symbol].kind != Kind::initial || term.factor != 1) {
    return std::nullopt;
  }
  return term.symbol - 1;
}

JumpOnPath SymbolicValues::jump_to(const SymbolicValue& destination) const {
  for (std::size_t i = 0; i < destination.terms.size(); ++i) {
    const Term& term = destination.terms[i];
    const Term& other = destination.terms[1 - i];
    if (term.symbol == 0 || symbols_[term.symbol].kind != Kind::load) {
      continue;
    }
    if (const auto base = initial_register(other)) {
      return {std::nullopt, false, base};
    }
    if (other.symbol == 0) {
      return table_of(symbols_[term.symbol], term.factor, destination.constant);
    }
  }
  return {};
}

JumpOnPath SymbolicValues::table_of(const Symbol& entry, std::uint64_t factor, std::uint64_t base) const {
  if (!std::has_single_bit(factor) || factor > 8 || (entry.width == 8 && factor != 1)) {
    return {};
  }
  const JumpTable table{core::Address{entry.of.constant},
                        0,
                        static_cast<std::uint8_t>(entry.width),
                        entry.is_signed,
                        static_cast<std::uint8_t>(std::countr_zero(factor)),
                        core::Address{base}};
  for (std::size_t i = 0; i < entry.of.terms.size(); ++i) {
    const Term& index = entry.of.terms[i];
    const Term& other = entry.of.terms[1 - i];
    if (index.symbol == 0 || index.factor != entry.width) {
      continue;
    }
    if (other.symbol == 0) {
      return bounded(table, index);
    }
    // With entries of one byte both look alike: the one that can be anything is the table.
    if (const auto known = initial_register(other); known && !symbols_[other.symbol].most) {
      return {std::nullopt, false, known};
    }
  }
  return {};
}

JumpOnPath SymbolicValues::bounded(JumpTable table, Term index) const {
  const Symbol& symbol = symbols_[index.symbol];
  std::uint64_t most = most_of(symbol);
  bool is_checked = symbol.is_checked || (symbol.is_signed && most != kUnbounded);
  for (const Bound& known : bounds_) {
    // The sum of the index and a constant was compared: the index begins with its negative.
    if (known.value.terms[0] == Term{index.symbol, 1} && known.value.terms[1].symbol == 0 &&
        known.most < most) {
      most = known.most;
      is_checked = true;
      table.first = table.first - known.value.constant * index.factor;
      break;
    }
  }
  if (most >= kMostEntries) {
    return {};
  }
  table.entries = most + 1;
  return {table, is_checked, std::nullopt};
}

}  // namespace sp::arch
