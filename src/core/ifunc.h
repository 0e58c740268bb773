#pragma once

#include <cstdint>
#include <string>

namespace sp::core {

/// A function that has variants, of which its resolver chooses one when the program is loaded. One
/// of the two is known.
struct Ifunc {
  std::uint64_t resolver = 0;  // its ELF address, in the file of the variants
  std::string name;            // of the symbol, which has the resolver's address
};

/// A word of a file that the loader sets to the chosen variant.
struct IfuncSlot {
  std::uint64_t address = 0;  // of ELF
  Ifunc ifunc;
};

}  // namespace sp::core
