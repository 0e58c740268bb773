#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sp::arch::x86_64 {

/// Where an indirect jump takes its destination from.
struct JumpSource {
  /// The whole destination is in memory.
  bool is_memory = false;
  unsigned reg = 0;  // the general register that holds it otherwise
};
/// Nothing if the instruction is not a near indirect jump.
[[nodiscard]] std::optional<JumpSource> jump_source(std::span<const std::byte> code);

/// What an instruction leaves in a register that it may write.
enum class RegisterSource : std::uint8_t {
  unchanged,
  memory,  // 64 bits were loaded
  other_register,
  computed,  // anything else
};
struct WrittenFrom {
  RegisterSource source = RegisterSource::unchanged;
  unsigned reg = 0;  // with other_register
};
[[nodiscard]] WrittenFrom written_from(std::span<const std::byte> code, unsigned reg);

/// No bytes but no-operations and breakpoints, as compilers put them between functions and in front
/// of loops.
[[nodiscard]] bool is_padding(std::span<const std::byte> code);

}  // namespace sp::arch::x86_64
