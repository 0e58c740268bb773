#pragma once

#include <cstddef>
#include <cstdint>

namespace sp::core {

/// What an XRay sled is for: the numbers of the file's map (XRayEntryType in compiler-rt's
/// xray_interface.h). clang for aarch64 calls sleds before tail calls `exit`, and nothing in their
/// bytes tells them apart.
enum class SledKind : std::uint8_t {
  entry = 0,
  exit = 1,
  tail_exit = 2,
  entry_with_argument = 3,  // logs the function's first argument
  custom_event = 4,
  typed_event = 5,
};
inline constexpr std::size_t kSledKinds = 6;

/// One entry of a file's XRay map.
struct Sled {
  /// Numbers from 1 the runs of equal functions in the map, as XRay's runtime does.
  std::uint32_t function_id = 0;
  SledKind kind = SledKind::entry;
  std::uint8_t version = 0;
  bool always = false;         // the function has the attribute xray_always_instrument
  std::uint64_t address = 0;   // ELF virtual address of the sled's first byte
  std::uint64_t function = 0;  // and of its function's

  bool operator==(const Sled&) const = default;
};

}  // namespace sp::core
