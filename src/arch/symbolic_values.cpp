#include "arch/symbolic_values.h"

#include <algorithm>
#include <bit>

namespace sp::arch {
namespace {

using Part = PathValue::Part;

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

PathValues::PathValues() {
  terms_.reserve(kRegisters + 8);
  terms_.resize(1);
  for (PathValue& value : registers_) {
    Term initial;
    initial.kind = Kind::initial;
    value = term(initial);
  }
}

PathValue PathValues::term(const Term& term) {
  terms_.push_back(term);
  PathValue value;
  value.parts[0] = {static_cast<std::uint32_t>(terms_.size() - 1), 1};
  return value;
}

bool PathValues::is_untouched(unsigned reg) const {
  return registers_[reg].is_term() && registers_[reg].parts[0].term == reg + 1;
}

RegisterEffect PathValues::effect_on(unsigned reg) const {
  if (is_untouched(reg)) {
    return {};
  }
  const PathValue& value = registers_[reg];
  if (value.is_constant()) {
    return {true, value.constant, std::nullopt};
  }
  const auto from = initial_register(value.parts[0]);
  return from && value.parts[1].term == 0 ? RegisterEffect{true, value.constant, from}
                                          : RegisterEffect{true, std::nullopt, std::nullopt};
}

PathValue PathValues::unknown(std::optional<std::uint64_t> most) {
  Term opaque;
  opaque.kind = Kind::opaque;
  opaque.most = most;
  return term(opaque);
}

PathValue PathValues::add(const PathValue& a, const PathValue& b) {
  PathValue sum{a.constant + b.constant, a.parts};
  for (const Part& part : b.parts) {
    if (part.term == 0) {
      break;
    }
    const auto same = std::find_if(sum.parts.begin(), sum.parts.end(), [&](const Part& other) {
      return other.term == part.term || other.term == 0;
    });
    if (same == sum.parts.end()) {
      return unknown();
    }
    *same = {part.term, same->factor + part.factor};
    if (same->factor == 0) {
      *same = {};
    }
    if (sum.parts[0].term == 0 ||
        (sum.parts[1].term != 0 && sum.parts[1].term < sum.parts[0].term)) {
      std::swap(sum.parts[0], sum.parts[1]);
    }
  }
  return sum;
}

PathValue PathValues::multiply(const PathValue& a, std::uint64_t factor) {
  PathValue product{a.constant * factor, a.parts};
  for (Part& part : product.parts) {
    part.factor *= factor;
    if (part.term != 0 && part.factor == 0) {
      return unknown();
    }
  }
  return product;
}

PathValue PathValues::extend(const PathValue& value, unsigned width, bool is_signed) {
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
  Term wanted;
  wanted.kind = Kind::extension;
  wanted.of = value;
  if (value.is_term()) {
    const Term& inner = terms_[value.parts[0].term];
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
  for (std::uint32_t i = 1; i < terms_.size(); ++i) {
    const Term& known = terms_[i];
    if (known.kind == wanted.kind && known.of == wanted.of && known.width == width &&
        known.is_signed == is_signed && known.memory == wanted.memory) {
      return {0, {Part{i, 1}, {}}};
    }
  }
  return term(wanted);
}

std::uint64_t PathValues::most_of(const Term& term) const {
  std::uint64_t most = term.most.value_or(kUnbounded);
  if (term.kind != Kind::extension && term.kind != Kind::load) {
    return most;
  }
  if (!term.is_signed) {
    return std::min(most, mask_of(term.width));
  }
  for (const Term& other : terms_) {  // the same bytes, widened with zeros
    if (other.kind == term.kind && other.of == term.of && other.width == term.width &&
        other.memory == term.memory && !other.is_signed && other.most &&
        *other.most <= most_positive(term.width)) {
      most = std::min(most, *other.most);
    }
  }
  return most;
}

std::optional<std::uint64_t> PathValues::most(const PathValue& value) const {
  if (value.is_constant()) {
    return value.constant;
  }
  for (const Bound& known : bounds_) {
    if (known.value == value) {
      return known.most;
    }
  }
  const Part& part = value.parts[0];
  const std::uint64_t most = most_of(terms_[part.term]);
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 40U;
  if (value.is_term()) {
    return most == kUnbounded ? std::nullopt : std::optional(most);
  }
  if (value.parts[1].term != 0 || most > kSmall || part.factor > 4096 || value.constant > kSmall) {
    return std::nullopt;
  }
  return value.constant + part.factor * most;
}

PathValue PathValues::load(const PathValue& from, unsigned width, bool is_signed) {
  for (const Stored& stored : stored_) {
    if (stored.at == from && stored.width == width) {
      return extend(stored.value, width, is_signed);
    }
  }
  Term wanted;
  wanted.kind = Kind::load;
  wanted.of = from;
  wanted.width = width;
  wanted.is_signed = is_signed;
  wanted.memory = memory_;
  for (std::uint32_t i = 1; i < terms_.size(); ++i) {
    const Term& known = terms_[i];
    if (known.kind == Kind::load && known.of == from && known.width == width &&
        known.is_signed == is_signed && known.memory == memory_) {
      return {0, {Part{i, 1}, {}}};
    }
  }
  return term(wanted);
}

void PathValues::store(const PathValue& to, unsigned width, const PathValue& value) {
  ++memory_;
  std::erase_if(stored_, [&](const Stored& stored) {
    const std::uint64_t above = stored.at.constant - to.constant;
    const std::uint64_t below = to.constant - stored.at.constant;
    const bool apart = stored.at.parts == to.parts && above >= width && below >= stored.width;
    return !apart;
  });
  stored_.push_back({to, width, value});
}

void PathValues::forget_memory() {
  ++memory_;
  stored_.clear();
}

void PathValues::compare(const PathValue& a, const PathValue& b, unsigned width) {
  flags_ = Flags{extend(a, width, false), extend(b, width, false), width, false};
}

void PathValues::bound(const PathValue& value, std::uint64_t most) {
  if (value.is_constant()) {
    return;
  }
  if (value.is_term()) {
    Term& term = terms_[value.parts[0].term];
    if (most_of(term) >= most) {
      term.most = most;
      term.is_checked = true;
    }
    return;
  }
  bounds_.push_back({value, most});
}

void PathValues::assume(Relation relation) {
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
  for (const PathValue& value : {flags_->a, flags_->b}) {
    if (const auto limit = limit_of(relation, value)) {
      bound(value, *limit);
    }
  }
}

std::optional<std::uint64_t> PathValues::most_if(Relation relation, const PathValue& value) {
  const auto limit = flags_ ? limit_of(relation, value) : std::nullopt;
  return limit ? limit : most(value);
}

// What a relation between a and b says of one of them, where the other is constant.
std::optional<std::uint64_t> PathValues::limit_of(Relation relation, const PathValue& value) const {
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

std::optional<unsigned> PathValues::initial_register(Part part) const {
  if (part.term == 0 || terms_[part.term].kind != Kind::initial || part.factor != 1) {
    return std::nullopt;
  }
  return part.term - 1;
}

JumpOnPath PathValues::jump_to(const PathValue& destination) const {
  for (std::size_t i = 0; i < destination.parts.size(); ++i) {
    const Part& part = destination.parts[i];
    const Part& other = destination.parts[1 - i];
    if (part.term == 0 || terms_[part.term].kind != Kind::load) {
      continue;
    }
    if (const auto base = initial_register(other)) {
      return {std::nullopt, false, base};
    }
    if (other.term == 0) {
      return table_of(terms_[part.term], part.factor, destination.constant);
    }
  }
  return {};
}

JumpOnPath PathValues::table_of(const Term& entry, std::uint64_t factor, std::uint64_t base) const {
  if (!std::has_single_bit(factor) || factor > 8 || (entry.width == 8 && factor != 1)) {
    return {};
  }
  const JumpTable table{core::Address{entry.of.constant},
                        0,
                        static_cast<std::uint8_t>(entry.width),
                        entry.is_signed,
                        static_cast<std::uint8_t>(std::countr_zero(factor)),
                        core::Address{base}};
  for (std::size_t i = 0; i < entry.of.parts.size(); ++i) {
    const Part& index = entry.of.parts[i];
    const Part& other = entry.of.parts[1 - i];
    if (index.term == 0 || index.factor != entry.width) {
      continue;
    }
    if (other.term == 0) {
      return bounded(table, index);
    }
    // With entries of one byte both look alike: the one that can be anything is the table.
    if (const auto known = initial_register(other); known && !terms_[other.term].most) {
      return {std::nullopt, false, known};
    }
  }
  return {};
}

JumpOnPath PathValues::bounded(JumpTable table, Part index) const {
  const Term& term = terms_[index.term];
  std::uint64_t most = most_of(term);
  bool is_checked = term.is_checked || (term.is_signed && most != kUnbounded);
  for (const Bound& known : bounds_) {
    // The sum of the index and a constant was compared: the index begins with its negative.
    if (known.value.parts[0] == Part{index.term, 1} && known.value.parts[1].term == 0 &&
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
