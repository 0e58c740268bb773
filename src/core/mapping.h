#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/address.h"

namespace sp::core {

/// One line of /proc/PID/maps (proc(5)).
struct Mapping {
  AddressRange range;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t device = 0;  // makedev(major, minor) folded to 32 bits; 0 for anonymous memory
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;   // MAP_SHARED: writes go to the file, or to other processes
  bool deleted = false;  // the path ended in " (deleted)", which is cut off
  std::string path;      // "" for anonymous memory; "[vdso]", "[stack]", ... as the kernel says
};

/// Parses the text of a /proc/PID/maps and skips malformed lines. In paths it decodes the kernel's
/// \012 escapes.
[[nodiscard]] std::vector<Mapping> parse_maps(std::string_view text);

/// The mapping that holds `address`, from a list sorted by address as the kernel prints it;
/// nullptr if there is none.
[[nodiscard]] const Mapping* find_mapping(const std::vector<Mapping>& maps, Address address);

}  // namespace sp::core
