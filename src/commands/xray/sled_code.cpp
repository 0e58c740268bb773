#include "commands/xray/sled_code.h"

#include <elf.h>

#include "arch/aarch64/sleds.h"
#include "arch/x86_64/sleds.h"

namespace sp::xray {

std::vector<arch::SledState> states_of(const std::vector<core::Sled>& sleds, std::uint16_t machine,
                                       const ReadCode& read) {
  const bool is_arm = machine == EM_AARCH64;
  const auto shape_of = is_arm ? arch::aarch64::sled_shape : arch::x86_64::sled_shape;
  const auto state_of = is_arm ? arch::aarch64::sled_state : arch::x86_64::sled_state;
  std::vector<arch::SledState> states;
  states.reserve(sleds.size());
  std::vector<std::byte> code;
  for (const core::Sled& sled : sleds) {
    code.resize(shape_of(sled.kind, sled.version).size);
    code.resize(read(sled.address, code));
    states.push_back(state_of(code, sled.kind, sled.version));
  }
  return states;
}

}  // namespace sp::xray
