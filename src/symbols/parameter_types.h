#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/call_query.h"

namespace sp::symbols {

/// How a value of a type is passed to a function.
struct PassedValue {
  enum class In : std::uint8_t { registers, memory, unknown };

  In in = In::unknown;
  unsigned integers = 0;   // general registers that it takes
  unsigned floatings = 0;  // floating-point registers
  /// Of a value that is one word: how it is read.
  std::optional<core::ValueType> read_as;
  std::uint8_t bytes = 0;
};

/// `machine` is EM_X86_64 or EM_AARCH64. `type` need not be peeled.
[[nodiscard]] PassedValue passed_value(Dwarf_Die& type, unsigned machine);

/// The function gets the address of its result as its first integer.
[[nodiscard]] bool takes_address_of_result(Dwarf_Die& type, unsigned machine);

/// The type of a parameter, a member or (what it returns) a function; follows abstract origins.
[[nodiscard]] std::optional<Dwarf_Die> type_of(Dwarf_Die& die);

/// As in C: "const char*", "struct stat*"; "?" if it is too deep.
[[nodiscard]] std::string type_text(Dwarf_Die& type);

}  // namespace sp::symbols
