#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/place_choice.h"
#include "profiler/formats/symbols_tsv.h"

namespace sp::record {

/// The functions that superprofiler ctl PATH patch and unpatch can name, by their XRay ids.
class PatchedFunctions {
 public:
  /// `function`: its symbols::function_id(). `is_patched`: it is traced from the start.
  void add(const std::string& path, std::uint32_t xray_id, std::uint64_t function, bool is_patched);
  /// What of `ids` names no function: "7", "3-9", "libx.so:7". Empty: each names one at least.
  [[nodiscard]] std::string missing(std::span<const core::XrayIds> ids) const;
  /// Switches the functions, which it returns.
  std::vector<std::uint64_t> set(std::span<const core::XrayIds> ids, bool is_patched);
  [[nodiscard]] bool is_patched(std::uint64_t function) const;
  /// The reason of a function that was switched: "ctl:patch", "ctl:unpatch".
  void describe(profiler::SymbolRow& row) const;

 private:
  struct Known {
    std::string path;
    std::uint32_t xray_id = 0;
    bool is_patched = false;
    bool was_switched = false;
  };
  [[nodiscard]] static bool is_one_of(const core::XrayIds& ids, const Known& known);

  std::map<std::uint64_t, Known> known_;  // by function
};

}  // namespace sp::record
