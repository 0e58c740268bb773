#pragma once

#include <cstddef>
#include <cstdint>

#include "core/address.h"

/// The code at places that a compiler left for instrumentation: XRay's sleds
/// (llvm/docs/XRay.rst, compiler-rt/lib/xray), patchable NOPs, and calls of mcount and __fentry__.
namespace sp::arch {

enum class SledState : std::uint8_t {
  unpatched,   // as compiled, or switched off by XRay's runtime, which restores the beginning only
  patched,     // switched on by XRay's runtime
  breakpoint,  // one of the two with our breakpoint in it
  unknown,     // other bytes, or too few
};

/// The bytes of a sled.
struct SledShape {
  std::size_t size = 0;
  /// Events: the offset of the call of their handler, which is executed if the sled is patched; 0
  /// for other sleds, and where the version does not tell.
  std::size_t call = 0;

  bool operator==(const SledShape&) const = default;
};

/// What a custom or typed event is called with (XRay's __xray_CustomEvent and __xray_TypedEvent).
struct SledEvent {
  std::uint64_t type = 0;  // of a typed one
  core::Address data;
  std::uint64_t size = 0;  // bytes

  bool operator==(const SledEvent&) const = default;
};

/// The code at an entry of __mcount_loc, or where a function calls mcount or __fentry__.
struct HookCall {
  enum class Kind : std::uint8_t {
    none,
    direct,          // a call of `where`
    through_memory,  // a call of the address that is stored at `where`
    nops,            // room for a direct call: -mnop-mcount
  };
  Kind kind = Kind::none;
  std::size_t length = 0;  // bytes up to where control continues
  core::Address where;

  bool operator==(const HookCall&) const = default;
};

}  // namespace sp::arch
