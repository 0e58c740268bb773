#include "supervisor/instruments/probes/written_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/mapping.h"
#include "core/page.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

void leave_written_page(ProbedCode& code, core::Address address, core::TimePoint now) {
  if (BreakpointSite* const site = code.inserted_at(address)) {
    code.take_former_code(*site);
  }
  std::vector<std::uint32_t> there;
  for (std::uint32_t number = 0; number < code.blocks().size(); ++number) {
    if (code.blocks()[number].probe.value() / core::kPageSize ==
        address.value() / core::kPageSize) {
      there.push_back(number);
    }
  }
  code.remove_probes(there, now);
  code.leave_page(address);
}

void forget_written_module(ProbedCode& code, core::AddressRange mapped) {
  code.restore(mapped);
  code.remember_removed(mapped);  // threads may stand at them
  code.end_module(mapped);
  code.forget_module(mapped);
}

namespace {

bool holds_gates(ProbedCode& code, core::AddressRange mapped) {
  const auto sites = code.inserted_in(mapped);
  return std::any_of(sites.begin(), sites.end(),
                     [](const BreakpointSite* site) { return site->gate != Gate::none; });
}

}  // namespace

std::vector<core::AddressRange> to_be_read_again(ProbedCode& code,
                                                 std::span<BreakpointSite* const> overwritten) {
  std::vector<core::AddressRange> modules;
  for (const BreakpointSite* const site : overwritten) {
    const auto* const module = code.functions().module_at(site->instruction.address);
    const bool is_new = module != nullptr &&
                        std::find(modules.begin(), modules.end(), module->mapped) == modules.end();
    if (is_new && !holds_gates(code, module->mapped)) {
      modules.push_back(module->mapped);
    }
  }
  return modules;
}

namespace {

bool is_probe(const BreakpointSite& site) {
  return site.gate == Gate::none && site.copy == core::Address{} &&
         site.block != BreakpointSite::kSharedLibraryEvent;
}

/// Nobody tells any more that the function is entered.
void end_awaited(ProbedCode& code, ProbedFunction& function, core::TimePoint now) {
  function.state = ProbedFunction::State::uninstrumented;
  function.is_overwritten = true;
  if (code.trace()) {
    code.end_trace_of(function, now);
  } else if (code.coverage() != nullptr) {
    code.untold_functions().push_back({function.bounds.begin, function.bounds.size(), now});
  }
}

}  // namespace

void leave_probes(ProbedCode& code, std::vector<BreakpointSite*> sites, core::TimePoint now) {
  std::erase_if(sites, [](const BreakpointSite* site) { return !is_probe(*site); });
  std::vector<std::uint32_t> blocks;
  for (BreakpointSite* const site : sites) {
    if (site->block < code.blocks().size()) {
      blocks.push_back(site->block);
      code.function(code.blocks()[site->block].function).is_overwritten = true;
    } else if (code.is_awaiting_entry(site->instruction.address)) {
      end_awaited(code, *code.functions().at(site->instruction.address), now);
    }
  }
  if (!blocks.empty()) {
    code.remove_probes(blocks, now);
  }
  code.remove_all(std::move(sites));
}

void end_entered(ProbedCode& code, core::AddressRange mapped, core::TimePoint now) {
  for (const std::uint32_t number : code.functions().in(mapped)) {
    ProbedFunction& function = code.function(number);
    if (function.state == ProbedFunction::State::instrumented) {
      function.is_overwritten = true;
      code.end_trace_of(function, now);
      code.remove_probes(function.blocks, now);
    }
  }
}

void end_overwritten(ProbedCode& code, core::TimePoint now,
                     std::span<const core::AddressRange> read_again) {
  auto sites = code.overwritten_in(BreakpointTable::kEverywhere);
  std::erase_if(sites, [&](const BreakpointSite* site) {
    return site->block >= code.blocks().size() &&
           std::any_of(read_again.begin(), read_again.end(), [site](core::AddressRange range) {
             return range.contains(site->instruction.address);
           });
  });
  leave_probes(code, std::move(sites), now);
}

void end_overwritten_at_exit(ProbedCode& code, pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  const auto maps = text ? core::parse_maps(*text) : std::vector<core::Mapping>{};
  const bool may_be = std::any_of(maps.begin(), maps.end(), [](const core::Mapping& mapping) {
    return mapping.executable && mapping.writable && mapping.inode != 0;
  });
  if (may_be) {
    end_overwritten(code, core::Clock::now(), {});
  }
}

}  // namespace sp::supervisor
