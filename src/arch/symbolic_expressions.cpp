#include "arch/symbolic_expressions.h"

#include <algorithm>
#include <utility>

#include "arch/widths.h"

namespace sp::arch {

using Term = SymbolicValue::Term;

SymbolicExpressions::SymbolicExpressions() {
  symbols_.reserve(kRegisters + 8);
  symbols_.resize(1);
  Symbol initial;
  initial.kind = Kind::initial;
  symbols_.resize(1 + kRegisters, initial);
}

SymbolicValue SymbolicExpressions::add_symbol(const Symbol& symbol) {
  symbols_.push_back(symbol);
  return {0, {Term{static_cast<std::uint32_t>(symbols_.size() - 1), 1}, {}}};
}

SymbolicValue SymbolicExpressions::find_or_add(const Symbol& wanted) {
  for (std::uint32_t i = 1; i < symbols_.size(); ++i) {
    const Symbol& known = symbols_[i];
    if (known.kind == wanted.kind && known.of == wanted.of && known.width == wanted.width &&
        known.is_signed == wanted.is_signed && known.memory == wanted.memory) {
      return {0, {Term{i, 1}, {}}};
    }
  }
  return add_symbol(wanted);
}

SymbolicValue SymbolicExpressions::unknown(std::optional<std::uint64_t> most) {
  Symbol opaque;
  opaque.kind = Kind::opaque;
  opaque.most = most;
  return add_symbol(opaque);
}

SymbolicValue SymbolicExpressions::add(const SymbolicValue& a, const SymbolicValue& b) {
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

SymbolicValue SymbolicExpressions::multiply(const SymbolicValue& a, std::uint64_t factor) {
  SymbolicValue product{a.constant * factor, a.terms};
  for (Term& term : product.terms) {
    term.factor *= factor;
    if (term.symbol != 0 && term.factor == 0) {
      return unknown();
    }
  }
  return product;
}

SymbolicValue SymbolicExpressions::extend(const SymbolicValue& value, unsigned width,
                                          bool is_signed) {
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
  return find_or_add(wanted);
}

std::uint64_t SymbolicExpressions::most_of(const Symbol& symbol) const {
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

std::optional<std::uint64_t> SymbolicExpressions::most(const SymbolicValue& value) const {
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
  if (value.terms[1].symbol != 0 || most > kSmall || term.factor > 4096 ||
      value.constant > kSmall) {
    return std::nullopt;
  }
  return value.constant + term.factor * most;
}

SymbolicValue SymbolicExpressions::loaded(const SymbolicValue& from, unsigned width, bool is_signed,
                                          std::uint32_t memory) {
  Symbol wanted;
  wanted.kind = Kind::load;
  wanted.of = from;
  wanted.width = width;
  wanted.is_signed = is_signed;
  wanted.memory = memory;
  return find_or_add(wanted);
}

void SymbolicExpressions::bound(const SymbolicValue& value, std::uint64_t most) {
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

std::optional<unsigned> SymbolicExpressions::initial_register(const Term& term) const {
  if (term.symbol == 0 || symbols_[term.symbol].kind != Kind::initial || term.factor != 1) {
    return std::nullopt;
  }
  return term.symbol - 1;
}

}  // namespace sp::arch
