#pragma once

#include <vector>

#include "core/address.h"
#include "core/mapping.h"

namespace sp::supervisor {

/// What may be done with code, by the mapping that it lies in.
enum class CodeKind {
  file_backed,  // the process's own copy of a file's text, or the vdso: breakpoints can stand in it
  writable,     // what is written while it is executed (a JIT's), or belongs to others too
  not_executable,  // nothing is executable there
};

/// The executable mappings of an address space, as they were when they were last told.
class CodeRegions {
 public:
  void set(const std::vector<core::Mapping>& maps);

  [[nodiscard]] CodeKind at(core::Address address) const;
  /// Empty where there is none.
  [[nodiscard]] core::AddressRange vdso() const { return vdso_; }
  [[nodiscard]] bool overlaps(core::AddressRange range) const;

 private:
  struct Piece {
    core::AddressRange range;
    CodeKind regions = CodeKind::not_executable;
  };
  std::vector<Piece> pieces_;  // by address
  core::AddressRange vdso_;
};

}  // namespace sp::supervisor
