#pragma once

#include <vector>

#include "core/address.h"
#include "core/mapping.h"

namespace sp::supervisor {

/// What may be done with code, by its mapping.
enum class CodeKind {
  file_backed,  // can hold breakpoints: private text of a file, or the vdso
  writable,     // cannot: may change while it is executed (a JIT's), is shared, or read
  not_executable,
};

/// Private text of a file: breakpoints elsewhere would be seen by others or be overwritten. But not
/// what Mono has compiled ahead of time, because Mono reads the call in front of a return address.
[[nodiscard]] bool can_hold_breakpoints(const core::Mapping& mapping);

/// The executable mappings of an address space, as of the last set().
class CodeRegions {
 public:
  void set(const std::vector<core::Mapping>& maps);

  [[nodiscard]] CodeKind at(core::Address address) const;
  /// Empty if there is none.
  [[nodiscard]] core::AddressRange vdso() const { return vdso_; }
  [[nodiscard]] bool overlaps(core::AddressRange range) const;

 private:
  struct Piece {
    core::AddressRange range;
    CodeKind kind = CodeKind::not_executable;
  };
  std::vector<Piece> pieces_;  // by address
  core::AddressRange vdso_;
};

}  // namespace sp::supervisor
