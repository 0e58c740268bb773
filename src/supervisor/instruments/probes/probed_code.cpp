#include "supervisor/instruments/probes/probed_code.h"

#include <algorithm>
#include <utility>

#include "supervisor/breakpoints/atomic_sequences.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/coverage.h"
#include "supervisor/instruments/probes/probe_placement.h"
#include "supervisor/instruments/probes/trace_places.h"

namespace sp::supervisor {

using core::Address;

ProbedCode::ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent)
    : InstrumentedCode(owner, tid, parent, 0),
      analysis_(parent.analysis_),
      coverage_(parent.coverage_),
      covered_files_(parent.covered_files_),
      modules_with_parts_(parent.modules_with_parts_),
      news_seen_(parent.news_seen_),
      trace_(parent.trace_ ? std::optional(parent.trace_->forked()) : std::nullopt),
      functions_(parent.functions_),
      blocks_(parent.blocks_.forked(parent.coverage_ == nullptr)),
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
  hot_functions_.forget_due(functions_.all());
}

void ProbedCode::end_module(core::AddressRange mapped) {
  for (const auto& copy : copies_.all().in(mapped)) {
    copies_.come_to_rest(*functions_.at(copy->original.begin));
  }
}

void ProbedCode::forget_module(core::AddressRange mapped) {
  for (const auto& copy : copies_.all().in(mapped)) {
    patches_.remove_exits(copy->range());
    copies_.end(*functions_.at(copy->original.begin));
  }
  copies_.forget_targets(mapped);
  patches_.forget(mapped);
  modules_with_stubs_.erase(mapped.begin);
  functions_.remove_module(mapped);
  covered_files_.erase(mapped.begin);
  modules_with_parts_.erase(mapped.begin);
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
  const bool is_left_out =
      trace_ && function != nullptr && (function->is_part || !trace_->has_places(*function));
  if (function == nullptr || is_left_out || function->state == ProbedFunction::State::copied) {
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

void ProbedCode::instrument_function(std::span<const Address> entered,
                                     std::optional<core::TimePoint> uncounted_until) {
  if (functions_.at(entered.front()) == nullptr) {
    collect_transfers();  // copies may have led there before
    if (!uncounted_until && copies_.is_new_target(entered.front())) {
      uncounted_until = core::Clock::now();
    }
  }
  ProbedFunction* const function = functions_.at_or_added(entered.front());
  if (function == nullptr || function->state == ProbedFunction::State::copied ||
      (trace_ && !trace_->has_places(*function))) {
    return;
  }
  const auto map = map_traced(functions_, *function, [&] { return analyze(*function, entered); });
  if (!function->has_known_end && !map.blocks.empty()) {
    function->bounds.end = map.blocks.back().last.next();
  }
  const bool is_new = function->state != ProbedFunction::State::instrumented;
  if (derives_ && !is_new) {
    propagate_counts();  // along the edges known so far
  }
  if (is_new) {
    // Threads already in the function when its module was instrumented were not counted, nor those
    // that came when the program had overwritten the breakpoint.
    const BreakpointSite* const entry = inserted_at(function->bounds.begin);
    if (function->state != ProbedFunction::State::awaiting_entry || !function->since.is_new ||
        (entry != nullptr && !is_unchanged(*entry))) {
      function->since = {core::Clock::now(), true};
    }
    function->state = ProbedFunction::State::instrumented;
    ++functions_instrumented_;
  }
  function->unresolved = function->has_known_jumps ? std::vector<Address>{} : map.unresolved;
  blocks_.update(*function, map, uncounted_until ? uncounted_until : function->since.time,
                 [this, function](const core::BasicBlock& block) {
                   return choose_probe_of(*function, block);
                 });
  note_known_blocks(*this, *function);
  if (derives_) {
    propagation_.choose_derived(*function, blocks_.all(),
                                [this](Address at) { return inserted_at(at) != nullptr; });
  }
  insert_probes(*function);
  if (trace_ || coverage_ != nullptr) {
    instrument_parts(function->number);
  }
}

core::ControlFlowGraph ProbedCode::analyze(const ProbedFunction& function,
                                           std::span<const Address> entered,
                                           const core::TableHints* hints) {
  if (coverage_ != nullptr && coverage_->wanted() == core::Coverage::function) {
    return whole_function(*this, function);
  }
  std::set<Address> leaders(function.landing_pads.begin(), function.landing_pads.end());
  leaders.insert(function.bounds.begin);
  leaders.insert(entered.begin(), entered.end());
  for (const std::uint32_t number : function.blocks) {
    leaders.insert(blocks_[number].start);
  }
  const FunctionIndex::Module* const module = functions_.module_at(function.bounds.begin);
  core::ControlFlowGraph graph = analysis_.map(
      function.bounds, module != nullptr ? module->bias : 0,
      std::vector<Address>(leaders.begin(), leaders.end()),
      [this](Address from, std::span<std::byte> into) { return fetch(from, into); }, hints);
  if (trace_ || coverage_ != nullptr) {
    std::erase_if(graph.blocks, [](const core::BasicBlock& block) { return block.is_unlocked; });
  }
  return trace_ ? blocks_.with_cuts(cut_at_places(std::move(graph), functions_, function)) : graph;
}

Address ProbedCode::choose_probe_of(const ProbedFunction& function, const core::BasicBlock& block) {
  if (block.is_unlocked) {
    return {};
  }
  if (trace_) {
    const TracePlace place =
        trace_place(functions_, function, function.unresolved, block.start, block.last);
    return place.enters || place.resumes ? block.start
           : place.is_any()              ? block.last.address
                                         : Address{};
  }
  const bool is_whole = coverage_ != nullptr && coverage_->wanted() == core::Coverage::function;
  if (is_whole || (coverage_ != nullptr && !is_unresolved_jump(function, block.last.address) &&
                   !is_in_sequence(*this, block.start))) {
    const bool stops = block.last.flow == core::Flow::stop && block.last.address == block.start;
    return stops ? Address{} : block.start;
  }
  return choose_probe(
      block, [this](Address from, std::span<std::byte> into) { return fetch(from, into); },
      [this](Address at) { return is_in_sequence(*this, at); });
}

void ProbedCode::insert_probes(const ProbedFunction& function) {
  if (function.awaits_copy) {
    return;
  }
  if (function.state != ProbedFunction::State::copied) {
    blocks_.end_copied(function, core::Clock::now());
  }
  auto sites = missing_probes(function);
  probes_ += sites.size();
  insert_all(std::move(sites));
  // Not before: other threads run, and would come in uncounted.
  remove_entry_breakpoint(function);
}

std::vector<BreakpointSite*> ProbedCode::missing_probes(const ProbedFunction& function) {
  std::vector<BreakpointSite*> sites;
  for (const std::uint32_t number : function.blocks) {
    const Block& block = blocks_[number];
    if (block.probe == Address{} || block.is_derived) {
      continue;
    }
    BreakpointSite* site = site_at(block.probe);
    const bool is_wanted = is_to_have_probe(block);
    if (site == nullptr && is_wanted) {
      const auto instruction = decode(block.probe);
      site = instruction ? &site_of(*instruction) : nullptr;
    }
    if (site != nullptr) {
      site->block = number;
    }
    if (site != nullptr && is_wanted && !site->inserted) {
      sites.push_back(site);
    }
  }
  return sites;
}

bool ProbedCode::is_to_have_probe(const Block& block) const {
  if (trace_) {
    return trace_->has_places(functions_.all()[block.function]);
  }
  // Where something may not be seen any more, what is seen still counts.
  return (coverage_ != nullptr || !block.until) && needs_probe(block);
}

bool ProbedCode::needs_probe(const Block& block) const {
  return !block.is_reached || is_watched(functions_.all()[block.function], block);
}

void ProbedCode::remove_entry_breakpoint(const ProbedFunction& function) {
  BreakpointSite* const entry = inserted_at(function.bounds.begin);
  const Block* const first = blocks_.starting_at(function.bounds.begin);
  if (entry != nullptr && entry->block == BreakpointSite::kNoBlock && entry->gate == Gate::none &&
      (first == nullptr || first->probe != function.bounds.begin)) {
    (void)remove(*entry);
  }
}

void ProbedCode::arm_entry(Address address, core::TimePoint now) {
  ProbedFunction* const function = functions_.at(address);
  if (function == nullptr || function->state != ProbedFunction::State::uninstrumented ||
      (trace_ && trace_->is_off)) {
    return;
  }
  const auto first = decode(function->bounds.begin);
  if (first && first->flow != core::Flow::stop) {
    function->state = ProbedFunction::State::awaiting_entry;
    function->since = {now, false};
    function->trace_until.reset();
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

void ProbedCode::adopt(ProbedFunction& function, const core::ControlFlowGraph& graph) {
  function.unresolved = function.has_known_jumps ? std::vector<Address>{} : graph.unresolved;
  blocks_.update(function, graph, function.since.time,
                 [&](const core::BasicBlock& block) { return choose_probe_of(function, block); });
  note_known_blocks(*this, function);
  insert_probes(function);
}

}  // namespace sp::supervisor
