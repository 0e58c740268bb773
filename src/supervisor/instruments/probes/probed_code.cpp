#include "supervisor/instruments/probes/probed_code.h"

#include <algorithm>
#include <utility>

#include "supervisor/breakpoints/atomic_sequences.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/probe_placement.h"

namespace sp::supervisor {

using core::Address;

ProbedCode::ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent)
    : InstrumentedCode(owner, tid, parent, 0),
      analysis_(parent.analysis_),
      functions_(parent.functions_),
      blocks_(parent.blocks_.forked()),
      propagation_(parent.propagation_.forked()),
      patches_(*this, guardian()),
      interrupted_(parent.interrupted_),
      forked_(core::Clock::now()),
      beside_(parent.beside_),
      has_unknown_frames_(parent.has_unknown_frames_),
      derives_(parent.derives_),
      loader_(parent.loader_) {
  if (parent.copy_space_ != nullptr) {
    inherited_ = parent.copy_space_;
  }
  for (const auto& copy : parent.copies_.all().all()) {
    remove_landings(*this, *copy);
    ProbedFunction& function = *functions_.at(copy->original.begin);
    function.state = ProbedFunction::State::instrumented;
    insert_probes(function);
  }
  HotFunctions::forget_due(functions_.all());
}

void ProbedCode::forget_module(core::AddressRange mapped) {
  for (const auto& copy : copies_.all().in(mapped)) {
    patches_.remove_exits(copy->range());
    copies_.end(*functions_.at(copy->original.begin));
  }
  patches_.forget(mapped);
  modules_with_stubs_.erase(mapped.begin);
  functions_.remove_module(mapped);
  propagation_.forget(mapped);
  blocks_.forget(mapped);
  forget_sites(mapped);
  edges_.clear();
}

bool ProbedCode::needs_instrumentation(Address address) const {
  if (blocks_.starting_at(address) != nullptr) {
    return false;
  }
  const ProbedFunction* const function = functions_.at(address);
  return function == nullptr ? functions_.is_in_whole_module(address)
                             : function->state != ProbedFunction::State::uninstrumented &&
                                   function->state != ProbedFunction::State::copied;
}

bool ProbedCode::is_awaiting_entry(Address address) const {
  const ProbedFunction* const function = functions_.at(address);
  return function != nullptr && function->bounds.begin == address &&
         function->state == ProbedFunction::State::awaiting_entry;
}

std::optional<Address> ProbedCode::uninstrumented_at(Address address) const {
  const ProbedFunction* const function = functions_.at(address);
  if (function == nullptr || function->state == ProbedFunction::State::copied) {
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
         function->state != ProbedFunction::State::copied &&
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
  if (function == nullptr || function->state == ProbedFunction::State::copied) {
    return;
  }
  const core::ControlFlowGraph map = analyze(*function, std::span(&address, 1));
  if (!function->has_known_end && !map.blocks.empty()) {
    function->bounds.end = map.blocks.back().last.next();
  }
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

core::ControlFlowGraph ProbedCode::analyze(const ProbedFunction& function,
                                           std::span<const Address> entered,
                                           const core::TableHints* hints) {
  std::set<Address> leaders(function.landing_pads.begin(), function.landing_pads.end());
  leaders.insert(function.bounds.begin);
  leaders.insert(entered.begin(), entered.end());
  for (const std::uint32_t number : function.blocks) {
    leaders.insert(blocks_[number].start);
  }
  return analysis_.map(
      function.bounds, std::vector<Address>(leaders.begin(), leaders.end()),
      [this](Address from, std::span<std::byte> into) { return fetch(from, into); }, hints);
}

Address ProbedCode::choose_probe_of(const core::BasicBlock& block) {
  return choose_probe(
      block, [this](Address from, std::span<std::byte> into) { return fetch(from, into); },
      [this](Address at) { return is_in_sequence(*this, at); });
}

void ProbedCode::insert_probes(const ProbedFunction& function) {
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
  // Not before: other threads run, and would come in uncounted.
  remove_entry_breakpoint(function);
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

void ProbedCode::note_uncounted_execution(Block& block, core::TimePoint now) {
  ++executions_;
  hot_functions_.note_hit(functions_[block.function], now);
  hot_.note_execution(block);
}

void ProbedCode::count(Block& block, core::TimePoint now) {
  note_uncounted_execution(block, now);
  block.add_hit(now);
}

std::size_t ProbedCode::remove_hottest(double keep, core::TimePoint now) {
  std::vector<std::uint32_t> hottest = hot_.take_hottest(blocks_.all(), keep);
  std::erase_if(hottest, [&](auto block) { return becomes_due(blocks_[block], now); });
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
    if (functions_[block.function].state == ProbedFunction::State::copied) {
      continue;
    }
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

void ProbedCode::adopt(ProbedFunction& function, const core::ControlFlowGraph& graph) {
  function.unresolved = graph.unresolved;
  blocks_.update(function, graph, function.since.time,
                 [this](const core::BasicBlock& block) { return choose_probe_of(block); });
  insert_probes(function);
}

void ProbedCode::collect_copies() {
  if (copy_space_ == nullptr || !copy_space_->slots) {
    return;
  }
  const CounterSlots& slots = *copy_space_->slots;
  const std::uint64_t base = slots.counters_at(0);
  copy_use_ += copies_.collect(
      blocks_,
      [&](std::uint64_t first, std::uint32_t count) {
        return slots.sums(static_cast<std::uint32_t>((first - base) / sizeof(first)), count);
      },
      core::Clock::now());
}

core::CodeProbed ProbedCode::take() {
  collect_copies();
  propagate_counts();
  core::CodeProbed probed;
  probed.edges = propagation_.take_edges();
  probed.blocks = blocks_.take_changes();
  return probed;
}

}  // namespace sp::supervisor
