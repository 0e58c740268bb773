#include "supervisor/instruments/probes/ways_in.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "supervisor/instruments/probes/places_in_code.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::AddressRange;
using core::CodeReferences;

/// The search for tables in larger functions would stop the thread for too long.
constexpr std::uint64_t kLargestWithHints = std::uint64_t{32} << 10U;

}  // namespace

std::optional<WaysIn> WaysIntoFunctions::find(const ProbedFunction& function) {
  Addresses parts;
  const bool has_calls = is_called(function.bounds.begin);
  const bool are_all = has_calls || add_parts(function, parts);
  auto found = find_entries(function, parts);
  if (found) {
    found->are_all = are_all;
    found->is_called = has_calls;
  }
  return found;
}

std::optional<WaysIn> WaysIntoFunctions::find_entries(const ProbedFunction& function,
                                                      const Addresses& more) const {
  const core::TableHints hints_if_small = hints_for(function);
  const core::TableHints* const hints =
      function.bounds.size() <= kLargestWithHints ? &hints_if_small : nullptr;
  const core::ControlFlowGraph own = code_.analyze(function, function.landing_pads, hints);
  std::vector<std::byte> bytes(function.bounds.size());
  if (code_.fetch(function.bounds.begin, bytes) != bytes.size()) {
    return std::nullopt;
  }
  WaysIn found;
  found.entries = function.landing_pads;
  found.entries.push_back(function.bounds.begin);
  found.entries.insert(found.entries.end(), more.begin(), more.end());
  add_within(function.bounds, references_.jumps, found.entries);
  Addresses certain = found.entries;
  drop_places_within_instructions(function.bounds.begin, bytes, own, certain);
  if (certain.size() != found.entries.size()) {
    return std::nullopt;
  }
  Addresses pointers;
  add_within(function.bounds, references_.pointers, pointers);
  drop_places_within_instructions(function.bounds.begin, bytes, own, pointers);
  found.entries.insert(found.entries.end(), pointers.begin(), pointers.end());
  found.graph = code_.analyze(function, found.entries, hints);
  return found;
}

core::TableHints WaysIntoFunctions::hints_for(const ProbedFunction& function) const {
  return {[this](AddressRange range) { return last_data_in(range); },
          [this](Address address) {
            const FunctionIndex::Module* const module = code_.functions().module_at(address);
            return module != nullptr && module->file.image != nullptr &&
                   module->file.image->is_executable_at(address.value() - module->bias);
          },
          [this, &function, known = std::map<Address, bool>()](Address address) mutable {
            const auto [found, is_new] = known.try_emplace(address, false);
            if (is_new) {
              found->second = is_part_of(function, address);
            }
            return found->second;
          }};
}

std::optional<Address> WaysIntoFunctions::last_data_in(AddressRange range) const {
  const auto behind =
      std::lower_bound(references_.data.begin(), references_.data.end(), range.end.value() - bias_);
  if (behind == references_.data.begin() || *std::prev(behind) < range.begin.value() - bias_) {
    return std::nullopt;
  }
  return Address{*std::prev(behind) + bias_};
}

bool WaysIntoFunctions::is_part_of(const ProbedFunction& function, Address address) const {
  const ProbedFunction* const part = code_.functions().at(address);
  if (part == nullptr || part == &function || is_called(part->bounds.begin)) {
    return false;
  }
  const auto sources = jumps_into(part->bounds);
  const bool is_own = std::all_of(sources.begin(), sources.end(), [&](const auto& jump) {
    return function.bounds.contains(Address{jump.from + bias_});
  });
  return is_own && code_.analyze(*part, std::span(&address, 1)).unmapped.empty();
}

std::span<const CodeReferences::Jump> WaysIntoFunctions::jumps_into(AddressRange bounds) const {
  const auto at = [this](Address address) {
    return std::lower_bound(
        references_.jump_sources.begin(), references_.jump_sources.end(), address.value() - bias_,
        [](const CodeReferences::Jump& jump, std::uint64_t to) { return jump.to < to; });
  };
  return {at(bounds.begin), at(bounds.end)};
}

/// Appends those of the sorted ELF addresses that lie in the function.
void WaysIntoFunctions::add_within(AddressRange bounds,
                                   const std::vector<std::uint64_t>& references,
                                   Addresses& to) const {
  for (auto at =
           std::lower_bound(references.begin(), references.end(), bounds.begin.value() - bias_);
       at != references.end() && *at < bounds.end.value() - bias_; ++at) {
    to.push_back(Address{*at + bias_});
  }
}

bool WaysIntoFunctions::is_called(Address begin) const {
  const auto holds = [&](const std::vector<std::uint64_t>& all) {
    return std::binary_search(all.begin(), all.end(), begin.value() - bias_);
  };
  return holds(references_.calls) || holds(references_.pointers);
}

const JumpsOut& WaysIntoFunctions::find_jumps_out(ProbedFunction& function) {
  if (function.jumps_out == nullptr) {
    auto out = std::make_shared<JumpsOut>();
    const auto ways_in = find_entries(function, {});
    std::vector<std::byte> bytes(function.bounds.size());
    if (ways_in && code_.fetch(function.bounds.begin, bytes) == bytes.size()) {
      const core::ControlFlowGraph& graph = ways_in->graph;
      out->are_known =
          graph.unmapped.empty() && analysis_.jumps_through_pointers(graph, function.bounds, bytes);
      for (const auto* const list : {&graph.transfers, &graph.table_destinations}) {
        std::copy_if(list->begin(), list->end(), std::back_inserter(out->destinations),
                     [&](Address at) { return !function.bounds.contains(at); });
      }
    }
    function.jumps_out = std::move(out);
  }
  return *function.jumps_out;
}

bool WaysIntoFunctions::add_parts(const ProbedFunction& function, Addresses& entries) {
  bool are_known = false;
  for (const CodeReferences::Jump& jump : jumps_into(function.bounds)) {
    ProbedFunction* const source = code_.functions().at(Address{jump.from + bias_});
    if (source == nullptr || source == &function) {
      return false;
    }
    const JumpsOut& out = find_jumps_out(*source);
    if (!out.are_known) {
      return false;
    }
    std::copy_if(out.destinations.begin(), out.destinations.end(), std::back_inserter(entries),
                 [&](Address at) { return function.bounds.contains(at); });
    are_known = true;
  }
  return are_known;
}

}  // namespace sp::supervisor
