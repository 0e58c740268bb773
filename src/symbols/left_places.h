#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/elf_image.h"
#include "core/result.h"

namespace sp::symbols {

/// Places in the code of a file that a compiler left for instrumentation.
struct LeftPlaces {
  /// -fxray-instrument: a section xray_instr_map; read_xray_map() reads it.
  bool has_xray = false;
  /// -fpatchable-function-entry=N,M: ELF virtual addresses of the first of N NOPs, of which M stand
  /// before the function. Neither number is in the file; arch/*/sleds counts the NOPs.
  std::vector<std::uint64_t> patchable;
  /// -mrecord-mcount: of the calls of mcount or __fentry__, or with -mnop-mcount of the NOPs.
  std::vector<std::uint64_t> recorded_calls;
  /// What the file's symbols show: it calls these. Without symbols, as in a stripped static
  /// program, nothing does.
  bool calls_mcount = false;  // -pg
  bool calls_fentry = false;  // -pg -mfentry
  bool calls_cyg = false;     // -finstrument-functions: __cyg_profile_func_enter

  [[nodiscard]] bool any() const {
    return has_xray || !patchable.empty() || !recorded_calls.empty() || calls_mcount ||
           calls_fentry || calls_cyg;
  }
};

/// Errors: a list of addresses that is cut off, no multiple of 8 bytes, or leads outside of the
/// executable segments; they name the entry, from 1. Zeros, of discarded functions, are skipped.
[[nodiscard]] core::Result<LeftPlaces> find_left_places(
    const std::shared_ptr<const core::ElfImage>& image);

/// All but sleds: "4 patchable function entries (-fpatchable-function-entry), calls of mcount
/// (-pg)"; "" if there are none.
[[nodiscard]] std::string describe(const LeftPlaces& places);

}  // namespace sp::symbols
