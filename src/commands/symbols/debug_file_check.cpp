#include "commands/symbols/debug_file_check.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace sp::symbols_command {
namespace {

using symbols::ElfSections;
using symbols::Section;

/// Its sections in memory.
std::vector<Section> allocated(const ElfSections& file) {
  std::vector<Section> sections;
  std::copy_if(file.all().begin(), file.all().end(), std::back_inserter(sections),
               [](const Section& section) { return (section.flags & SHF_ALLOC) != 0; });
  return sections;
}

std::string build_id_text(const std::string& id) { return id.empty() ? "none" : id; }

std::string difference_of(const Section& ours, const Section& theirs) {
  if (ours.name != theirs.name) {
    return fmt::format("section {} is {} there", ours.name, theirs.name);
  }
  if (ours.address != theirs.address) {
    return fmt::format("{} is at {:#x}, and there at {:#x}", ours.name, ours.address,
                       theirs.address);
  }
  if (ours.size != theirs.size) {
    return fmt::format("{} has {} bytes, and there {}", ours.name, ours.size, theirs.size);
  }
  return "";
}

}  // namespace

std::string first_difference(const ElfSections& file, const ElfSections& debug_file) {
  if (const std::string id = file.build_id(), other = debug_file.build_id(); id != other) {
    return fmt::format("the build-id is {}, and there {}", build_id_text(id), build_id_text(other));
  }
  const auto ours = allocated(file);
  const auto theirs = allocated(debug_file);
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    if (std::string difference = difference_of(ours[i], theirs[i]); !difference.empty()) {
      return difference;
    }
  }
  if (ours.size() != theirs.size()) {
    const bool is_missing = ours.size() > theirs.size();
    const Section& odd = is_missing ? ours[theirs.size()] : theirs[ours.size()];
    return fmt::format("section {} is only in the {} file", odd.name,
                       is_missing ? "first" : "debug");
  }
  return "";
}

}  // namespace sp::symbols_command
