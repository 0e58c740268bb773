#include "commands/record/patched_functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/run_files/function_places.h"

namespace sp::record {

void PatchedFunctions::add(const std::string& path, std::uint32_t xray_id, std::uint64_t function,
                           bool is_patched) {
  known_.try_emplace(function, Known{path, xray_id, is_patched, false});
}

bool PatchedFunctions::is_one_of(const core::XrayIds& ids, const Known& known) {
  return run_files::names_id(std::span(&ids, 1), known.path, known.xray_id);
}

std::string PatchedFunctions::missing(std::span<const core::XrayIds> ids) const {
  for (const core::XrayIds& one : ids) {
    const bool is_known = std::any_of(known_.begin(), known_.end(), [&](const auto& entry) {
      return is_one_of(one, entry.second);
    });
    if (!is_known) {
      return fmt::format("{}{}{}{}", one.module, one.module.empty() ? "" : ":", one.first,
                         one.last == one.first ? "" : fmt::format("-{}", one.last));
    }
  }
  return "";
}

std::vector<std::uint64_t> PatchedFunctions::set(std::span<const core::XrayIds> ids,
                                                 bool is_patched) {
  std::vector<std::uint64_t> switched;
  for (auto& [function, known] : known_) {
    const bool is_named = std::any_of(ids.begin(), ids.end(), [&known = known](const auto& one) {
      return is_one_of(one, known);
    });
    if (is_named) {
      known.was_switched = known.was_switched || known.is_patched != is_patched;
      known.is_patched = is_patched;
      switched.push_back(function);
    }
  }
  return switched;
}

bool PatchedFunctions::is_patched(std::uint64_t function) const {
  const auto found = known_.find(function);
  return found == known_.end() || found->second.is_patched;
}

void PatchedFunctions::describe(profiler::SymbolRow& row) const {
  const auto found = known_.find(row.id);
  if (found != known_.end() && found->second.was_switched) {
    row.is_instrumented = true;
    row.place = run_files::place_name(core::Via::xray);
    row.reason = found->second.is_patched ? "ctl:patch" : "ctl:unpatch";
  }
}

}  // namespace sp::record
