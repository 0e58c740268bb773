#pragma once

#include <elfutils/libdw.h>

namespace sp::symbols {

/// The Itanium C++ ABI passes a class by its address that is not trivial for the purposes of calls:
/// it, a base or a member has a copy constructor, move constructor or destructor that is not the
/// compiler's own, or virtual functions. clang says so in debug information (DW_CC_pass_by_*); gcc
/// leaves it to its members. `type` is a structure, class or union.
[[nodiscard]] bool is_passed_by_address(Dwarf_Die& type);

}  // namespace sp::symbols
