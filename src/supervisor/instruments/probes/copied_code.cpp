#include "supervisor/instruments/probes/copied_code.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

using core::Address;

bool has_gate_in(ProbedCode& code, core::AddressRange range) {
  const std::set<Address>& gates = code.gates();
  for (auto at = gates.lower_bound(range.begin); at != gates.end() && *at < range.end; ++at) {
    const BreakpointSite* const site = code.site_at(*at);
    if (site != nullptr && site->gate != Gate::none && site->gate != Gate::at_call) {
      return true;
    }
  }
  return false;
}

bool covers(const core::ControlFlowGraph& graph, const ProbedCode& code,
            const ProbedFunction& function) {
  return std::all_of(function.blocks.begin(), function.blocks.end(), [&](std::uint32_t number) {
    const Address block = code.blocks()[number].start;
    const auto found =
        std::lower_bound(graph.blocks.begin(), graph.blocks.end(), block,
                         [](const core::BasicBlock& b, Address start) { return b.start < start; });
    return found != graph.blocks.end() && found->start == block;
  });
}

Address counted_at(ProbedCode& code, Address start) {
  const ProbedBlock* const block = code.block_starting_at(start);
  const bool is_counted = block != nullptr && block->probe != Address{} && !block->until &&
                          code.inserted_at(block->probe) != nullptr;
  return is_counted ? block->probe : Address{};
}

std::vector<BreakpointSite*> probes_of(ProbedCode& code, std::uint32_t function) {
  std::vector<BreakpointSite*> sites;
  for (const std::uint32_t number : code.function(function).blocks) {
    const Address probe = code.blocks()[number].probe;
    BreakpointSite* const site = probe != Address{} ? code.inserted_at(probe) : nullptr;
    if (site != nullptr && site->gate == Gate::none) {
      sites.push_back(site);
    }
  }
  return sites;
}

void replace_by_breakpoint(core::FunctionCopy& copy, Address landing) {
  for (core::CopyLanding& one : copy.landings) {
    if (one.at == landing) {
      one.form = core::CopyLanding::Form::breakpoint;
      one.size = 0;
      one.via = Address{};
      one.via_size = 0;
    }
  }
}

std::vector<BreakpointSite*> landing_sites(ProbedCode& code, const core::FunctionCopy& copy) {
  std::vector<BreakpointSite*> sites;
  for (const core::CopyLanding& landing : copy.landings) {
    const auto instruction = landing.form == core::CopyLanding::Form::breakpoint
                                 ? code.decode(landing.at)
                                 : std::nullopt;
    if (instruction) {
      sites.push_back(&code.landing_site(*instruction, landing.copy));
    }
  }
  return sites;
}

void remove_landings(ProbedCode& code, const core::FunctionCopy& copy) {
  std::vector<BreakpointSite*> sites;
  for (const core::CopyLanding& landing : copy.landings) {
    BreakpointSite* const site = code.site_at(landing.at);
    if (site != nullptr && site->copy != Address{}) {
      site->copy = Address{};
      if (site->inserted) {
        sites.push_back(site);
      }
    }
  }
  code.remove_all(std::move(sites));
}

void add_jumps(ProbedCode& code, const core::FunctionCopy& copy, std::vector<CodeChange>& jumps) {
  const auto add = [&](Address at, std::size_t size, const std::array<std::byte, 8>& bytes,
                       bool is_second) {
    CodeChange change{at, size, {}, bytes, is_second};
    (void)code.fetch(at, std::span(change.from).first(size));
    jumps.push_back(change);
  };
  for (const core::CopyLanding& landing : copy.landings) {
    if (landing.form == core::CopyLanding::Form::jump) {
      add(landing.at, landing.size, landing.bytes, false);
      if (landing.via_size > 0) {
        add(landing.via, landing.via_size, landing.via_bytes, true);
      }
    }
  }
}

std::vector<CodeChange> exits_of(const core::FunctionCopy& copy) {
  std::vector<CodeChange> exits;
  for (const core::CopyExit& exit : copy.exits) {
    CodeChange& change = exits.emplace_back(CodeChange{exit.at, exit.size, {}, exit.bytes, false});
    std::copy_n(copy.code.begin() + static_cast<std::ptrdiff_t>(exit.at - copy.at), exit.size,
                change.from.begin());
  }
  return exits;
}

void add_heads(const core::CopyLanding& landing, std::vector<Address>& heads) {
  if (landing.form == core::CopyLanding::Form::jump) {
    heads.push_back(landing.at);
    if (landing.via_size > 0) {
      heads.push_back(landing.via);
    }
  }
}

void end_counts(ProbedCode& code, const ProbedFunction& function, core::TimePoint now) {
  code.functions().note_unseen();
  for (const std::uint32_t number : function.blocks) {
    ProbedBlock& block = code.block(number);
    if (!block.until) {
      block.until = now;
      block.has_unreported_change = true;
    }
  }
}

void restore_jumps(ProbedCode& parent, pid_t tid) {
  const auto& space = parent.copy_space();
  if (space == nullptr || !space->slots) {
    return;
  }
  (void)parent.patches().restore_child(TargetMemory(tid));
  if (space->slots->has_base(tid)) {
    (void)set_counter_base(tid, 0);
  }
}

void unmap_copies(ProbedCode& code, pid_t tid) {
  const RemoteCaller caller{tid, code.trap_handler().syscall_site};
  for (auto* const space : {&code.inherited_copy_space(), &code.copy_space()}) {
    if (*space == nullptr || (*space)->is_in_use) {
      continue;
    }
    for (const auto& [module, region] : (*space)->regions) {
      for (const core::AddressRange mapped : region.regions()) {
        code.patches().remove_exits(mapped);
      }
      region.unmap(caller);
    }
    if ((*space)->slots) {
      (*space)->slots->unmap(caller);
    }
    space->reset();
  }
}

}  // namespace sp::supervisor
