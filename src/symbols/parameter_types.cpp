#include "symbols/parameter_types.h"

#include <dwarf.h>
#include <elf.h>

#include <array>
#include <string_view>
#include <vector>

#include "symbols/passed_by_address.h"

namespace sp::symbols {
namespace {

using core::ValueType;
using In = PassedValue::In;

constexpr int kDeepest = 12;
constexpr std::uint64_t kWord = 8;

std::optional<std::uint64_t> number_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute at;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(&die, attribute, &at) == nullptr || dwarf_formudata(&at, &value) != 0) {
    return std::nullopt;
  }
  return value;
}

std::string_view plain_name(Dwarf_Die& die) {
  const char* const name = dwarf_diename(&die);
  return name == nullptr ? std::string_view{} : std::string_view(name);
}

std::optional<Dwarf_Die> peeled(Dwarf_Die& type) {
  Dwarf_Die result;
  return dwarf_peel_type(&type, &result) == 0 ? std::optional(result) : std::nullopt;
}

PassedValue one_word(ValueType type, std::uint64_t bytes) {
  return {In::registers, 1, 0, type, static_cast<std::uint8_t>(bytes)};
}

PassedValue floating(std::uint64_t bytes, unsigned machine) {
  constexpr std::uint64_t kLong = 16;
  if (bytes == sizeof(float) || bytes == sizeof(double)) {
    return {In::registers, 0, 1, ValueType::floating, static_cast<std::uint8_t>(bytes)};
  }
  if (bytes == kLong && machine == EM_AARCH64) {
    return {In::registers, 0, 1, std::nullopt, 0};
  }
  return {bytes == kLong ? In::memory : In::unknown, 0, 0, std::nullopt, 0};
}

PassedValue base_type(Dwarf_Die& type, unsigned machine) {
  const std::uint64_t bytes = number_of(type, DW_AT_byte_size).value_or(0);
  const std::uint64_t encoding = number_of(type, DW_AT_encoding).value_or(0);
  if (encoding == DW_ATE_float) {
    return floating(bytes, machine);
  }
  if (bytes == 0 || bytes > kWord || encoding == DW_ATE_complex_float) {
    return {};
  }
  if (plain_name(type) == "char") {
    return one_word(ValueType::character, bytes);
  }
  const bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  return one_word(is_signed ? ValueType::signed_number : ValueType::unsigned_number, bytes);
}

PassedValue pointer(Dwarf_Die& type) {
  auto target = type_of(type);
  target = target ? peeled(*target) : std::nullopt;
  const bool is_text =
      target && dwarf_tag(&*target) == DW_TAG_base_type && plain_name(*target) == "char";
  return one_word(is_text ? ValueType::text : ValueType::pointer, kWord);
}

/// The words of a small structure: which hold only floating-point numbers.
struct Words {
  std::array<bool, 4> has_integer{};
  std::array<bool, 4> has_float{};
  std::uint64_t float_bytes = 0;
  unsigned floats = 0;
  bool are_known = true;
};

void add_words(Dwarf_Die& type, std::uint64_t offset, unsigned machine, int depth, Words& words);

void add_members(Dwarf_Die& type, std::uint64_t offset, unsigned machine, int depth, Words& words) {
  constexpr int kMostMembers = 1'000;  // a damaged file may lead back
  Dwarf_Die member;
  if (dwarf_child(&type, &member) != 0) {
    return;
  }
  int left = kMostMembers;
  do {
    const int tag = dwarf_tag(&member);
    const bool is_static = number_of(member, DW_AT_external).value_or(0) != 0 ||
                           number_of(member, DW_AT_declaration).value_or(0) != 0;
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_static) {
      continue;
    }
    auto its_type = type_of(member);
    if (!its_type || number_of(member, DW_AT_bit_size)) {
      words.are_known = false;
      return;
    }
    add_words(*its_type, offset + number_of(member, DW_AT_data_member_location).value_or(0),
              machine, depth + 1, words);
  } while (words.are_known && --left > 0 && dwarf_siblingof(&member, &member) == 0);
}

void add_words(Dwarf_Die& type, std::uint64_t offset, unsigned machine, int depth, Words& words) {
  const auto bare = peeled(type);
  if (!bare || depth > kDeepest || offset / kWord >= words.has_integer.size()) {
    words.are_known = false;
    return;
  }
  Dwarf_Die die = *bare;
  switch (dwarf_tag(&die)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      add_members(die, offset, machine, depth, words);
      return;
    default:
      break;
  }
  const PassedValue value = passed_value(die, machine);
  if (value.in != In::registers || value.integers + value.floatings != 1 || !value.read_as) {
    words.are_known = false;
  } else if (value.floatings == 1) {
    words.has_float.at(offset / kWord) = true;
    words.are_known = words.are_known && (words.floats == 0 || words.float_bytes == value.bytes);
    words.float_bytes = value.bytes;
    ++words.floats;
  } else {
    words.has_integer.at(offset / kWord) = true;
  }
}

PassedValue structure(Dwarf_Die& type, unsigned machine) {
  const PassedValue by_address{In::registers, 1, 0, std::nullopt, 0};
  if (is_passed_by_address(type)) {
    return by_address;
  }
  constexpr std::uint64_t kMostInRegisters = 16;
  const std::uint64_t bytes = number_of(type, DW_AT_byte_size).value_or(0);
  if (bytes > kMostInRegisters && machine == EM_X86_64) {
    return {In::memory, 0, 0, std::nullopt, 0};
  }
  Words words;
  add_words(type, 0, machine, 0, words);
  const bool is_empty = words.are_known && words.floats == 0 && !words.has_integer[0];
  if (is_empty) {
    return {In::registers, 0, 0, std::nullopt, 0};
  }
  if (machine == EM_AARCH64) {
    constexpr unsigned kMostFloats = 4;
    const bool is_of_floats = words.are_known && !words.has_integer[0] && !words.has_integer[1] &&
                              words.floats <= kMostFloats;
    if (is_of_floats) {
      return {In::registers, 0, words.floats, std::nullopt, 0};
    }
    return bytes > kMostInRegisters
               ? by_address
               : PassedValue{words.are_known ? In::registers : In::unknown,
                             static_cast<unsigned>((bytes + kWord - 1) / kWord), 0, std::nullopt,
                             0};
  }
  PassedValue value{words.are_known ? In::registers : In::unknown, 0, 0, std::nullopt, 0};
  for (std::uint64_t word = 0; word * kWord < bytes; ++word) {
    (words.has_integer.at(word) ? value.integers : value.floatings) += 1;
  }
  return value;
}

}  // namespace

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute at;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&die, DW_AT_type, &at) == nullptr ||
      dwarf_formref_die(&at, &type) == nullptr) {
    return std::nullopt;
  }
  return type;
}

PassedValue passed_value(Dwarf_Die& type, unsigned machine) {
  const auto bare = peeled(type);
  if (!bare) {
    return {};
  }
  Dwarf_Die die = *bare;
  switch (dwarf_tag(&die)) {
    case DW_TAG_base_type:
      return base_type(die, machine);
    case DW_TAG_enumeration_type: {
      const std::uint64_t bytes = number_of(die, DW_AT_byte_size).value_or(sizeof(int));
      auto underlying = type_of(die);
      const PassedValue of_it = underlying ? passed_value(*underlying, machine) : PassedValue{};
      const bool is_signed = !of_it.read_as || of_it.read_as == ValueType::signed_number;
      return one_word(is_signed ? ValueType::signed_number : ValueType::unsigned_number, bytes);
    }
    case DW_TAG_pointer_type:
      return pointer(die);
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type:  // std::nullptr_t
      return one_word(ValueType::pointer, kWord);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return structure(die, machine);
    default:
      return {};
  }
}

bool takes_address_of_result(Dwarf_Die& type, unsigned machine) {
  if (machine != EM_X86_64) {
    return false;  // AArch64 has x8 for it
  }
  const auto bare = peeled(type);
  if (!bare) {
    return false;
  }
  Dwarf_Die die = *bare;
  const int tag = dwarf_tag(&die);
  const bool is_structure =
      tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
  return is_structure && (is_passed_by_address(die) || structure(die, machine).in == In::memory);
}

std::string type_text(Dwarf_Die& type) {
  std::string front;
  std::string behind;
  Dwarf_Die die = type;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const int tag = dwarf_tag(&die);
    auto next = type_of(die);
    if (tag == DW_TAG_pointer_type) {
      behind.insert(0, "*");
    } else if (tag == DW_TAG_reference_type) {
      behind.insert(0, "&");
    } else if (tag == DW_TAG_rvalue_reference_type) {
      behind.insert(0, "&&");
    } else if (tag == DW_TAG_const_type && next && dwarf_tag(&*next) == DW_TAG_pointer_type) {
      behind.insert(0, " const");
    } else if (tag == DW_TAG_const_type) {
      front = "const ";
    } else if (tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type) {
      const std::string_view name = plain_name(die);
      front += name.empty() ? tag == DW_TAG_subroutine_type ? "function" : "?" : name;
      return front + behind;
    }
    if (!next) {
      return front.append("void").append(behind);
    }
    die = *next;
  }
  return "?";
}

}  // namespace sp::symbols
