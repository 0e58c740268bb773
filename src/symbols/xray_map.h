#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/elf_image.h"
#include "core/result.h"
#include "core/sled.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// The XRay map of a file: where clang's -fxray-instrument left sleds.
struct XrayMap {
  std::vector<core::Sled> sleds;  // in the order of the map
  std::uint32_t functions = 0;    // the highest id
  std::size_t discarded = 0;      // entries of functions that the linker has thrown away
  /// How the file's index of functions (xray_fn_idx) differs from the map, which is right then; ""
  /// if it does not, or if there is none.
  std::string index_difference;
};

/// Reads xray_instr_map of a file for x86_64 or aarch64: entries of 32 bytes (XRaySledEntry in
/// compiler-rt's xray_interface_internal.h), of versions 0 and 1 with absolute addresses, from 2 on
/// with relative ones. Nothing if the file has no map, as `strip` leaves it if it has one. Errors
/// name the entry, from 1: the map is cut off or no multiple of 32 bytes, an entry of unknown kind,
/// a sled or function outside of the executable segments.
///
/// An entry whose function is 0 was discarded by the linker. It has no id, ends a run of equal
/// functions, and is only counted, as in llvm-xray.
[[nodiscard]] core::Result<std::optional<XrayMap>> read_xray_map(
    const std::shared_ptr<const core::ElfImage>& image);

/// The entries of one function id in the map: [begin, end), numbers from 0.
struct SledRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const SledRun&) const = default;
};

/// Compares xray_fn_idx with the runs of equal functions in the map, which is at `map_address`: ""
/// if it says the same, or if there is none. Three layouts of its 16 bytes a function exist:
/// absolute begin and end (up to LLVM 16), begin relative to the field and absolute end, begin
/// relative to the field and the number of entries (from LLVM 17 or so).
[[nodiscard]] std::string compare_xray_index(const ElfSections& sections,
                                             const std::vector<SledRun>& runs,
                                             std::uint64_t map_address);

}  // namespace sp::symbols
