#include "supervisor/instruments/probes/function_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sp::supervisor {

using core::Address;

namespace {

/// Up to where the module's file is still mapped as it was from its begin on, in one piece or in
/// several with other permissions; its begin: not at all.
Address mapped_up_to(const FunctionIndex::Module& module,
                     const std::vector<core::Mapping>& mappings) {
  const core::Mapping* const first = core::find_mapping(mappings, module.mapped.begin);
  Address end = module.mapped.begin;
  if (first == nullptr || first->range.begin != end) {
    return end;
  }
  if (module.file.path.empty()) {
    return first->range == module.mapped ? module.mapped.end : end;
  }
  for (const core::Mapping* piece = first;
       piece != nullptr && piece->path == module.file.path &&
       piece->file_offset - first->file_offset == piece->range.begin - first->range.begin;
       piece = core::find_mapping(mappings, end)) {
    end = piece->range.end;
  }
  return std::min(end, module.mapped.end);
}

bool overlap(core::AddressRange a, core::AddressRange b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

bool FunctionIndex::has_module(core::AddressRange mapped) const {
  return !writes_in(mapped).empty() ||
         std::any_of(modules_.begin(), modules_.end(),
                     [&](const Module& module) { return overlap(module.mapped, mapped); });
}

void FunctionIndex::begin_writes(core::AddressRange mapped, std::vector<Before> entered) {
  constexpr int kMost = 100;  // each costs as much as a start
  written_.push_back({mapped, ++times_written_[mapped.begin] > kMost, std::move(entered)});
}

std::vector<FunctionIndex::Before> FunctionIndex::take_entered(core::AddressRange range) {
  std::vector<Before> all;
  for (Written& written : written_) {
    if (overlap(written.mapped, range)) {
      std::move(written.entered.begin(), written.entered.end(), std::back_inserter(all));
      written.entered.clear();
    }
  }
  return all;
}

std::vector<core::AddressRange> FunctionIndex::writes_in(core::AddressRange range) const {
  std::vector<core::AddressRange> inside;
  for (const Written& written : written_) {
    if (overlap(written.mapped, range)) {
      inside.push_back(written.mapped);
    }
  }
  return inside;
}

void FunctionIndex::end_writes(const std::vector<core::Mapping>& mappings) {
  std::erase_if(written_, [&](const Written& written) {
    return !written.is_over &&
           std::none_of(mappings.begin(), mappings.end(), [&](const core::Mapping& mapping) {
             return mapping.executable && mapping.writable &&
                    overlap(mapping.range, written.mapped);
           });
  });
}

const FunctionIndex::Module* FunctionIndex::module_at(Address address) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const Module& module) {
    return module.mapped.contains(address);
  });
  return found == modules_.end() ? nullptr : &*found;
}

core::AddressRange FunctionIndex::gap_behind(const ProbedFunction& function) const {
  const auto above = first_above(function.bounds.begin);
  return {function.bounds.end,
          above == by_address_.end() ? function.bounds.end : functions_[*above].bounds.begin};
}

void FunctionIndex::remove_module(core::AddressRange mapped) {
  std::erase_if(modules_, [&](const Module& module) { return module.mapped == mapped; });
  for (Module& module : modules_) {
    if (module.mapped.contains(mapped.begin)) {
      module.mapped.end = mapped.begin;
    }
  }
  std::erase_if(by_address_, [&](std::uint32_t number) {
    ProbedFunction& function = functions_[number];
    const bool is_gone = mapped.contains(function.bounds.begin);
    if (is_gone) {
      function.state = ProbedFunction::State::uninstrumented;  // who has its number leaves it alone
    }
    return is_gone;
  });
}

std::vector<core::AddressRange> FunctionIndex::unmapped_modules(
    const std::vector<core::Mapping>& mappings) const {
  std::vector<core::AddressRange> unmapped;
  for (const Module& module : modules_) {
    const Address end = mapped_up_to(module, mappings);
    if (end < module.mapped.end) {
      unmapped.push_back({end, module.mapped.end});
    }
  }
  return unmapped;
}

void FunctionIndex::add(std::vector<ProbedFunction> functions) {
  for (ProbedFunction& function : functions) {
    function.is_rewritten = rewritten_.contains(function.bounds.begin);
    function.number = static_cast<std::uint32_t>(functions_.size());
    by_address_.push_back(function.number);
    functions_.push_back(std::move(function));
  }
  std::sort(by_address_.begin(), by_address_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return functions_[a].bounds < functions_[b].bounds;
  });
}

FunctionIndex::Numbers::const_iterator FunctionIndex::first_above(Address address) const {
  return std::upper_bound(
      by_address_.begin(), by_address_.end(), address,
      [this](Address a, std::uint32_t number) { return a < functions_[number].bounds.begin; });
}

const ProbedFunction* FunctionIndex::at(Address address) const {
  const auto above = first_above(address);
  if (above == by_address_.begin()) {
    return nullptr;
  }
  const ProbedFunction& function = functions_[*(above - 1)];
  return function.bounds.contains(address) ? &function : nullptr;
}

ProbedFunction* FunctionIndex::at(Address address) {
  return const_cast<ProbedFunction*>(std::as_const(*this).at(address));  // NOLINT
}

std::vector<std::uint32_t> FunctionIndex::in(core::AddressRange range) const {
  auto from = first_above(range.begin);
  if (from != by_address_.begin() && functions_[*(from - 1)].bounds.end > range.begin) {
    --from;
  }
  const auto behind = std::partition_point(from, by_address_.end(), [&](std::uint32_t number) {
    return functions_[number].bounds.begin < range.end;
  });
  return {from, behind};
}

const FunctionIndex::Module* FunctionIndex::whole_module_at(Address address) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const Module& module) {
    return module.is_whole && module.mapped.contains(address);
  });
  return found == modules_.end() ? nullptr : &*found;
}

bool FunctionIndex::is_in_whole_module(Address address) const {
  return whole_module_at(address) != nullptr;
}

ProbedFunction* FunctionIndex::at_or_added(Address address) {
  if (ProbedFunction* const function = at(address); function != nullptr) {
    return function;
  }
  const Module* const module = whole_module_at(address);
  if (module == nullptr) {
    return nullptr;
  }
  const auto above = first_above(address);
  ProbedFunction function;
  function.number = static_cast<std::uint32_t>(functions_.size());
  function.since = since_of_found(*module);
  function.has_known_end = false;
  function.bounds = {
      address, above == by_address_.end() ? module->mapped.end : functions_[*above].bounds.begin};
  by_address_.insert(above, function.number);
  functions_.push_back(std::move(function));
  return &functions_.back();
}

}  // namespace sp::supervisor
