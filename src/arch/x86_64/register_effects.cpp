#include "arch/x86_64/register_effects.h"

#include "arch/x86_64/register_families.h"

namespace sp::arch::x86_64 {
namespace register_families {

void Operands::read_address() {
  if (!encoding_.names_memory()) {
    return;
  }
  constexpr unsigned kNoIndex = 4;
  if (!encoding_.has_sib) {
    if (!encoding_.is_rip_relative()) {
      read({encoding_.rm()});
    }
    return;
  }
  const bool has_base = encoding_.mod() != 0 || (encoding_.sib & 7U) != 5;
  if (has_base) {
    read({encoding_.base()});
  }
  if (encoding_.index() != kNoIndex) {
    read({encoding_.index()});
  }
}

}  // namespace register_families

RegisterEffects register_effects(const Encoding& encoding) {
  switch (encoding.map) {
    case OpcodeMap::one_byte:
      return register_families::of_one_byte(encoding);
    case OpcodeMap::two_byte:
      return register_families::of_two_byte(encoding);
    case OpcodeMap::three_byte_38:
      return register_families::of_three_byte_38(encoding);
    case OpcodeMap::three_byte_3a:
      return register_families::of_three_byte_3a(encoding);
    case OpcodeMap::vector:
      return register_families::of_vector(encoding);
  }
  return register_families::Operands::unknown();
}

}  // namespace sp::arch::x86_64
