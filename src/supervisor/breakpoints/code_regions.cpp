#include "supervisor/breakpoints/code_regions.h"

#include <algorithm>
#include <string_view>

namespace sp::supervisor {
namespace {

CodeKind kind_of(const core::Mapping& mapping) {
  if (mapping.path == "[vdso]") {
    return CodeKind::file_backed;
  }
  return can_hold_breakpoints(mapping) ? CodeKind::file_backed : CodeKind::writable;
}

}  // namespace

bool can_hold_breakpoints(const core::Mapping& mapping) {
  const std::string_view path = mapping.path;
  const bool is_of_mono = path.ends_with(".dll.so") || path.ends_with(".exe.so");
  return mapping.executable && !mapping.writable && !mapping.shared && mapping.inode != 0 &&
         path.starts_with('/') && !is_of_mono;
}

void CodeRegions::set(const std::vector<core::Mapping>& maps) {
  pieces_.clear();
  vdso_ = {};
  for (const core::Mapping& mapping : maps) {
    if (mapping.executable) {
      pieces_.push_back({mapping.range, kind_of(mapping)});
      if (mapping.path == "[vdso]") {
        vdso_ = mapping.range;
      }
    }
  }
}

CodeKind CodeRegions::at(core::Address address) const {
  const auto behind =
      std::upper_bound(pieces_.begin(), pieces_.end(), address,
                       [](core::Address a, const Piece& piece) { return a < piece.range.end; });
  return behind != pieces_.end() && behind->range.contains(address) ? behind->kind
                                                                    : CodeKind::not_executable;
}

bool CodeRegions::overlaps(core::AddressRange range) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.range.begin < range.end && range.begin < piece.range.end;
  });
}

}  // namespace sp::supervisor
