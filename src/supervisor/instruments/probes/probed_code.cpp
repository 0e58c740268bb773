#include "supervisor/instruments/probes/probed_code.h"

#include <algorithm>
#include <utility>

#include "supervisor/breakpoints/atomic_sequences.h"
#include "supervisor/instruments/probes/probe_placement.h"

namespace sp::supervisor {

using core::Address;

ProbedCode::ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent)
    : InstrumentedCode(owner, tid, parent, 0),
      analysis_(parent.analysis_),
      functions_(parent.functions_),
      blocks_(parent.blocks_.forked()),
      propagation_(parent.propagation_.forked()),
      derives_(parent.derives_),
      loader_(parent.loader_) {}

void ProbedCode::instrument_module(const core::InstrumentationCandidates& plan, std::uint64_t bias,
                                   core::AddressRange mapped, Since since) {
  functions_.add_module({mapped, plan.is_whole, since});
  std::vector<ProbedFunction> functions;
  std::vector<BreakpointSite*> entries;
  for (const core::CandidateFunction& planned : plan.functions) {
    const core::AddressRange bounds{Address{planned.begin + bias}, Address{planned.end + bias}};
    if (!mapped.contains(bounds.begin) || bounds.end > mapped.end) {
      continue;
    }
    const auto first = decode(bounds.begin);
    if (!first) {
      continue;
    }
    ProbedFunction& function = functions.emplace_back();
    function.bounds = bounds;
    for (const std::uint64_t pad : planned.landing_pads) {
      function.landing_pads.push_back(Address{pad + bias});
    }
    function.since = since;
    if (first->flow != core::Flow::stop) {
      entries.push_back(&site_of(*first));
    }
  }
  functions_.add(std::move(functions));
  insert_all(std::move(entries));
}

void ProbedCode::forget_module(core::AddressRange mapped) {
  functions_.remove_module(mapped);
  propagation_.forget(mapped);
  blocks_.forget(mapped);
  forget_sites(mapped);
  edges_.clear();
}

void ProbedCode::insert_loader_breakpoint(Address address) {
  const auto instruction = decode(address);
  if (!instruction) {
    return;
  }
  BreakpointSite& site = site_of(*instruction);
  if (!site.inserted) {  // it is, if the loader itself is instrumented
    site.block = BreakpointSite::kSharedLibraryEvent;
    (void)insert(site);
  }
  loader_ = site.inserted ? address : Address{};
}

void ProbedCode::remove_loader_breakpoint() {
  BreakpointSite* const site = inserted_at(loader_);
  if (site != nullptr && site->block == BreakpointSite::kSharedLibraryEvent) {
    (void)remove(*site);
  }
  loader_ = {};
}

bool ProbedCode::needs_instrumentation(Address address) const {
  if (blocks_.starting_at(address) != nullptr) {
    return false;
  }
  const ProbedFunction* const function = functions_.at(address);
  return function == nullptr ? functions_.is_in_whole_module(address)
                             : function->state != ProbedFunction::State::uninstrumented;
}

bool ProbedCode::is_awaiting_entry(Address address) const {
  const ProbedFunction* const function = functions_.at(address);
  return function != nullptr && function->bounds.begin == address &&
         function->state == ProbedFunction::State::awaiting_entry;
}

std::optional<Address> ProbedCode::uninstrumented_at(Address address) const {
  const ProbedFunction* const function = functions_.at(address);
  if (function == nullptr) {
    return std::nullopt;
  }
  if (function->state != ProbedFunction::State::instrumented) {
    return function->bounds.begin;
  }
  return blocks_.has_block_around(address, *function) ? std::nullopt : std::optional(address);
}

bool ProbedCode::needs_exploration(Address address) const {
  constexpr std::uint32_t kMost = 16;
  const ProbedFunction* const function = functions_.at(address);
  return function != nullptr && function->explorations < kMost &&
         (function->state != ProbedFunction::State::instrumented || !function->unresolved.empty());
}

void ProbedCode::note_exploration(Address address) {
  if (ProbedFunction* const function = functions_.at(address); function != nullptr) {
    ++function->explorations;
  }
}

void ProbedCode::instrument_function(Address address,
                                     std::optional<core::TimePoint> uncounted_until) {
  ProbedFunction* const function = functions_.at_or_added(address);
  if (function == nullptr) {
    return;
  }
  const core::ControlFlowGraph map = analyze(*function, address);
  const bool is_new = function->state != ProbedFunction::State::instrumented;
  if (derives_ && !is_new) {
    propagate_counts();  // along the edges known so far
  }
  if (is_new) {
    // Threads already in the function when its module was instrumented were not counted.
    if (function->state != ProbedFunction::State::awaiting_entry || !function->since.is_new) {
      function->since = {core::Clock::now(), true};
    }
    function->state = ProbedFunction::State::instrumented;
    ++functions_instrumented_;
  }
  function->unresolved = map.unresolved;
  blocks_.update(*function, map, uncounted_until ? uncounted_until : function->since.time,
                 [this](const core::BasicBlock& block) { return choose_probe_of(block); });
  if (derives_) {
    propagation_.choose_derived(*function, blocks_.all(),
                                [this](Address at) { return inserted_at(at) != nullptr; });
  }
  insert_probes(*function);
}

core::ControlFlowGraph ProbedCode::analyze(const ProbedFunction& function, Address entered) {
  std::set<Address> leaders(function.landing_pads.begin(), function.landing_pads.end());
  leaders.insert(function.bounds.begin);
  leaders.insert(entered);
  for (const std::uint32_t number : function.blocks) {
    leaders.insert(blocks_[number].start);
  }
  return analysis_.map(
      function.bounds, std::vector<Address>(leaders.begin(), leaders.end()),
      [this](Address from, std::span<std::byte> into) { return fetch(from, into); });
}

Address ProbedCode::choose_probe_of(const core::BasicBlock& block) {
  return choose_probe(
      block, [this](Address from, std::span<std::byte> into) { return fetch(from, into); },
      [this](Address at) { return is_in_sequence(*this, at); });
}

void ProbedCode::insert_probes(const ProbedFunction& function) {
  remove_entry_breakpoint(function);
  std::vector<BreakpointSite*> sites;
  for (const std::uint32_t number : function.blocks) {
    const Block& block = blocks_[number];
    const bool has_none = block.probe == Address{} || block.is_derived;
    const auto instruction = has_none ? std::nullopt : decode(block.probe);
    if (!instruction) {
      continue;
    }
    BreakpointSite& site = site_of(*instruction);
    site.block = number;
    if (!site.inserted && !block.until) {
      sites.push_back(&site);
    }
  }
  probes_ += sites.size();
  insert_all(std::move(sites));
}

void ProbedCode::remove_entry_breakpoint(const ProbedFunction& function) {
  BreakpointSite* const entry = inserted_at(function.bounds.begin);
  const Block* const first = blocks_.starting_at(function.bounds.begin);
  if (entry != nullptr && entry->block == BreakpointSite::kNoBlock && entry->gate == Gate::none &&
      (first == nullptr || first->probe != function.bounds.begin)) {
    (void)remove(*entry);
  }
}

void ProbedCode::disarm_entries() {
  std::vector<BreakpointSite*> entries;
  for (ProbedFunction& function : functions_.all()) {
    if (function.state != ProbedFunction::State::awaiting_entry) {
      continue;
    }
    function.state = ProbedFunction::State::uninstrumented;
    BreakpointSite* const entry = inserted_at(function.bounds.begin);
    if (entry != nullptr && entry->block == BreakpointSite::kNoBlock && entry->gate == Gate::none) {
      entries.push_back(entry);
    }
  }
  remove_all(std::move(entries));
}

void ProbedCode::arm_entry(Address address, core::TimePoint now) {
  ProbedFunction* const function = functions_.at(address);
  if (function == nullptr || function->state != ProbedFunction::State::uninstrumented) {
    return;
  }
  const auto first = decode(function->bounds.begin);
  if (first && first->flow != core::Flow::stop) {
    function->state = ProbedFunction::State::awaiting_entry;
    function->since = {now, false};
    (void)insert(site_of(*first));
  }
}

void ProbedCode::note_uncounted_execution(Block& block) {
  ++executions_;
  hot_.note_execution(block);
}

void ProbedCode::count(Block& block, core::TimePoint now) {
  note_uncounted_execution(block);
  block.add_hit(now);
}

std::size_t ProbedCode::remove_hottest(double keep, core::TimePoint now) {
  const std::vector<std::uint32_t> hottest = hot_.take_hottest(blocks_.all(), keep);
  remove_probes(hottest, now);
  return hottest.size();
}

std::size_t ProbedCode::remove_above(double share, std::uint64_t from, core::TimePoint now) {
  const std::vector<std::uint32_t> hot = find_blocks_above(blocks_.all(), share, from);
  remove_probes(hot, now);
  return hot.size();
}

void ProbedCode::remove_probes(std::span<const std::uint32_t> chosen, core::TimePoint now) {
  if (derives_) {
    propagate_counts();
  }
  const std::set<std::uint32_t> all = with_uncountable(chosen);
  std::vector<BreakpointSite*> sites;
  std::set<std::uint32_t> functions;
  for (const std::uint32_t number : all) {
    Block& block = blocks_[number];
    functions.insert(block.function);
    BreakpointSite* const site = block.probe == Address{} ? nullptr : inserted_at(block.probe);
    if (site != nullptr && !block.until) {
      block.until = now;
      block.has_unreported_change = true;
      sites.push_back(site);
    }
  }
  for (const std::uint32_t number : functions) {
    propagation_.end_uncounted(functions_[number], blocks_.all(), now);
  }
  remove_all(std::move(sites));
}

/// The chosen blocks, and all blocks of a function of which one ends with an indirect jump with
/// unknown targets: without that one's probe, nobody sees a jump into the middle of another block.
std::set<std::uint32_t> ProbedCode::with_uncountable(std::span<const std::uint32_t> chosen) {
  std::set<std::uint32_t> all(chosen.begin(), chosen.end());
  for (const std::uint32_t number : chosen) {
    const ProbedFunction& function = functions_[blocks_[number].function];
    const auto& jumps = function.unresolved;
    if (std::find(jumps.begin(), jumps.end(), blocks_[number].last.address) != jumps.end()) {
      all.insert(function.blocks.begin(), function.blocks.end());
    }
  }
  return all;
}

core::CodeProbed ProbedCode::take() {
  propagate_counts();
  core::CodeProbed probed;
  probed.edges = propagation_.take_edges();
  probed.blocks = blocks_.take_changes();
  return probed;
}

}  // namespace sp::supervisor
