#include "symbols/passed_by_address.h"

#include <dwarf.h>

#include <optional>
#include <string_view>

#include "symbols/parameter_types.h"

namespace sp::symbols {
namespace {

constexpr int kDeepestMember = 12;
constexpr int kMostChildren = 2'000;  // a damaged file may lead back

std::string_view name_in_class(Dwarf_Die& die) {
  const char* const name = dwarf_diename(&die);
  return name == nullptr ? std::string_view{} : std::string_view(name);
}

bool is_class(Dwarf_Die& die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

std::optional<Dwarf_Die> peeled_type_of(Dwarf_Die& die) {
  auto type = type_of(die);
  Dwarf_Die bare;
  return type && dwarf_peel_type(&*type, &bare) == 0 ? std::optional(bare) : std::nullopt;
}

/// The compiler writes it, or the programmer with "= default".
bool is_own(Dwarf_Die& function) {
  return dwarf_hasattr(&function, DW_AT_artificial) != 0 ||
         dwarf_hasattr(&function, DW_AT_defaulted) != 0;
}

/// "C(const C&)" or "C(C&&)".
bool copies_or_moves(Dwarf_Die& function, Dwarf_Die& of) {
  const std::string_view whole = name_in_class(of);
  Dwarf_Die child;
  if (name_in_class(function) != whole.substr(0, whole.find('<')) ||
      dwarf_child(&function, &child) != 0) {
    return false;
  }
  for (int left = kMostChildren; left > 0; --left) {
    const bool is_this = dwarf_hasattr(&child, DW_AT_artificial) != 0;
    if (dwarf_tag(&child) == DW_TAG_formal_parameter && !is_this) {
      auto type = peeled_type_of(child);
      const int tag = type ? dwarf_tag(&*type) : 0;
      const bool is_reference = tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
      auto target = is_reference ? peeled_type_of(*type) : std::nullopt;
      return target && dwarf_dieoffset(&*target) == dwarf_dieoffset(&of);
    }
    if (dwarf_siblingof(&child, &child) != 0) {
      return false;
    }
  }
  return false;
}

bool is_by_address(Dwarf_Die& type, int depth) {
  Dwarf_Attribute at;
  Dwarf_Word convention = 0;
  if (dwarf_attr(&type, DW_AT_calling_convention, &at) != nullptr &&
      dwarf_formudata(&at, &convention) == 0) {
    return convention == DW_CC_pass_by_reference;
  }
  Dwarf_Die child;
  if (depth > kDeepestMember || dwarf_child(&type, &child) != 0) {
    return false;
  }
  int left = kMostChildren;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      const bool is_destructor = name_in_class(child).starts_with('~');
      if (!is_own(child) && (is_destructor || copies_or_moves(child, type))) {
        return true;
      }
    } else if (tag == DW_TAG_member || tag == DW_TAG_inheritance) {
      auto member = peeled_type_of(child);
      if (name_in_class(child).starts_with("_vptr") ||
          (member && is_class(*member) && is_by_address(*member, depth + 1))) {
        return true;
      }
    }
  } while (--left > 0 && dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

bool is_passed_by_address(Dwarf_Die& type) { return is_by_address(type, 0); }

}  // namespace sp::symbols
