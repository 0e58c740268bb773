#include "supervisor/instruments/probes/probed_code.h"

#include <algorithm>
#include <set>
#include <utility>

#include "supervisor/instruments/probes/probe_placement.h"

namespace sp::supervisor {

using core::Address;

ProbedCode::ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent)
    : BreakpointTable(owner, tid, parent, 0),
      maps_(parent.maps_),
      functions_(parent.functions_),
      blocks_(parent.blocks_),
      block_at_(parent.block_at_),
      deriving_(parent.deriving_),
      derived_of_(parent.derived_of_),
      derives_(parent.derives_),
      loader_(parent.loader_) {
  for (const std::uint32_t number : deriving_) {
    for (Derived& derived : derived_of_[number]) {
      derived.seen = 0;
    }
  }
  for (Block& block : blocks_) {
    block.hits = 0;
    block.told = 0;
    block.passes = 0;
    block.heat = 0;
    block.since.reset();
  }
}

void ProbedCode::watch(const core::CodePlan& plan, std::uint64_t bias, core::AddressRange mapped,
                       Since since) {
  functions_.add_module({mapped, plan.is_whole, since});
  std::vector<ProbedFunction> functions;
  std::vector<BreakpointSite*> entries;
  for (const core::PlannedFunction& planned : plan.functions) {
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

void ProbedCode::watch_loader(Address address) {
  const auto instruction = decode(address);
  if (!instruction) {
    return;
  }
  BreakpointSite& site = site_of(*instruction);
  if (!site.inserted) {  // it is where the loader is to have probes too
    site.block = BreakpointSite::kMapsChanged;
    (void)insert(site);
  }
  loader_ = site.inserted ? address : Address{};
}

void ProbedCode::unwatch(core::AddressRange mapped) {
  functions_.remove_module(mapped);
  std::erase_if(deriving_, [&](std::uint32_t number) {
    return mapped.contains(functions_[number].bounds.begin);
  });
  for (Block& block : blocks_) {
    if (mapped.contains(block.start)) {
      block_at_.erase(block.start);
      block.probe = Address{};
    }
  }
  forget_sites(mapped);
  edges_.clear();
}

bool ProbedCode::needs_map(Address address) const {
  if (block_at_.contains(address)) {
    return false;
  }
  const ProbedFunction* const function = functions_.at(address);
  return function == nullptr ? functions_.is_in_whole_module(address)
                             : function->state != ProbedFunction::State::uninstrumented;
}

std::optional<Address> ProbedCode::unmapped_at(Address address) const {
  const ProbedFunction* const function = functions_.at(address);
  if (function == nullptr) {
    return std::nullopt;
  }
  if (function->state != ProbedFunction::State::instrumented) {
    return function->bounds.begin;
  }
  const bool is_in_block =
      std::any_of(function->blocks.begin(), function->blocks.end(), [&](std::uint32_t number) {
        const Block& block = blocks_[number];
        return core::AddressRange{block.start, block.start + block.size}.contains(address);
      });
  return is_in_block ? std::nullopt : std::optional(address);
}

bool ProbedCode::is_in_function(Address address) const { return functions_.at(address) != nullptr; }

bool ProbedCode::is_to_be_explored(Address address) const {
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

void ProbedCode::map(Address address, std::optional<core::TimePoint> unseen) {
  ProbedFunction* const function = functions_.at_or_added(address);
  if (function == nullptr) {
    return;
  }
  std::set<Address> leaders(function->landing_pads.begin(), function->landing_pads.end());
  leaders.insert(function->bounds.begin);
  leaders.insert(address);
  for (const std::uint32_t number : function->blocks) {
    leaders.insert(blocks_[number].start);
  }
  const core::FunctionMap map =
      maps_.map(function->bounds, std::vector<Address>(leaders.begin(), leaders.end()),
                [this](Address from, std::span<std::byte> into) { return fetch(from, into); });
  const bool is_new = function->state != ProbedFunction::State::instrumented;
  if (derives_ && !is_new) {
    settle();  // by what was known so far
  }
  if (is_new) {
    // Who was in it when it began to be watched has not been seen.
    if (function->state != ProbedFunction::State::awaiting_entry || !function->since.is_new) {
      function->since = {core::Clock::now(), true};
    }
    function->state = ProbedFunction::State::instrumented;
    ++functions_mapped_;
  }
  adopt(*function, map, unseen ? unseen : function->since.time);
  derive(*function);
  give_probes(*function);
}

/// Takes over what is new in a map of a function, some blocks of which may be known.
void ProbedCode::adopt(ProbedFunction& function, const core::FunctionMap& map,
                       std::optional<core::TimePoint> since) {
  function.unresolved = map.unresolved;
  const auto number_of = [this](Address start) {
    const auto found = block_at_.find(start);
    return found == block_at_.end() ? BreakpointSite::kNoBlock : found->second;
  };
  std::vector<std::uint32_t> known = function.blocks;
  std::sort(known.begin(), known.end(), [this](std::uint32_t a, std::uint32_t b) {
    return blocks_[a].start < blocks_[b].start;
  });
  std::vector<core::MappedBlock> fresh;
  for (const core::MappedBlock& mapped : map.blocks) {
    if (number_of(mapped.start) == BreakpointSite::kNoBlock) {
      fresh.push_back(mapped);
    }
  }
  for (const core::MappedBlock& mapped : fresh) {
    Block block;
    block.start = mapped.start;
    block.function = function.number;
    block.since = since;
    const auto behind = std::upper_bound(
        known.begin(), known.end(), mapped.start,
        [this](Address start, std::uint32_t n) { return start < blocks_[n].start; });
    if (behind != known.begin()) {
      const Block& before = blocks_[*(behind - 1)];
      if (mapped.start < before.start + before.size) {
        // Until now whatever came through that one came through this one.
        block.hits = before.hits;
        block.passes = before.passes;
        block.first_hit = before.first_hit;
        block.last_hit = before.last_hit;
        block.since = before.since;
        block.until = before.until;
      }
    }
    const auto number = static_cast<std::uint32_t>(blocks_.size());
    block_at_.emplace(block.start, number);
    function.blocks.push_back(number);
    blocks_.push_back(block);
  }
  for (const core::MappedBlock& mapped : map.blocks) {
    Block& block = blocks_[block_at_.at(mapped.start)];
    update(block, mapped);
  }
}

void ProbedCode::update(Block& block, const core::MappedBlock& mapped) {
  std::uint32_t size = 0;
  for (const std::uint8_t length : mapped.lengths) {
    size += length;
  }
  if (size == block.size) {
    return;
  }
  block.size = size;
  block.instructions = static_cast<std::uint32_t>(mapped.lengths.size());
  block.last = mapped.last;
  block.falls_through = mapped.falls_through;
  block.is_untold = true;
  block.probe = choose_probe(
      mapped, [this](Address from, std::span<std::byte> into) { return fetch(from, into); },
      [this](Address address) { return is_in_sequence(address); });
}

void ProbedCode::give_probes(ProbedFunction& function) {
  take_entry_away(function);
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
  insert_all(sites);
}

/// Where it is no block's probe.
void ProbedCode::take_entry_away(ProbedFunction& function) {
  BreakpointSite* const entry = inserted_at(function.bounds.begin);
  const auto first = block_at_.find(function.bounds.begin);
  if (entry != nullptr && entry->block == BreakpointSite::kNoBlock &&
      (first == block_at_.end() || blocks_[first->second].probe != function.bounds.begin)) {
    (void)remove(*entry);
  }
}

void ProbedCode::leave_unmapped() {
  std::vector<BreakpointSite*> entries;
  for (ProbedFunction& function : functions_.all()) {
    if (function.state != ProbedFunction::State::awaiting_entry) {
      continue;
    }
    function.state = ProbedFunction::State::uninstrumented;
    BreakpointSite* const entry = inserted_at(function.bounds.begin);
    if (entry != nullptr && entry->block == BreakpointSite::kNoBlock) {
      entries.push_back(entry);
    }
  }
  remove_all(std::move(entries));
}

void ProbedCode::await(Address address, core::TimePoint now) {
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

void ProbedCode::pass(Block& block) {
  ++passes_;
  ++block.passes;
  if (block.heat++ == 0) {
    hot_.push_back(block_at_.at(block.start));
  }
}

void ProbedCode::count(Block& block, core::TimePoint now) {
  pass(block);
  if (block.hits++ == 0) {
    block.first_hit = now;
  }
  block.last_hit = now;
}

void ProbedCode::uncount(Block& block) {
  if (block.hits > 0) {
    --block.hits;
    block.told = std::min(block.told, block.hits);
  }
}

std::size_t ProbedCode::remove_hottest(double keep, core::TimePoint now) {
  std::vector<std::uint32_t> hot = std::exchange(hot_, {});
  std::uint64_t all = 0;
  for (const std::uint32_t number : hot) {
    all += blocks_[number].heat;
  }
  std::sort(hot.begin(), hot.end(),
            [this](std::uint32_t a, std::uint32_t b) { return blocks_[a].heat > blocks_[b].heat; });
  std::uint64_t left = all;
  std::size_t removed = 0;
  while (removed < hot.size() && static_cast<double>(left) > keep * static_cast<double>(all)) {
    left -= blocks_[hot[removed++]].heat;
  }
  for (const std::uint32_t number : hot) {
    blocks_[number].heat = 0;
  }
  remove_probes(std::span(hot).first(removed), now);
  return removed;
}

std::size_t ProbedCode::remove_above(double share, std::uint64_t from, core::TimePoint now) {
  std::uint64_t all = 0;
  for (const Block& block : blocks_) {
    all += block.until || block.is_derived ? 0 : block.passes;
  }
  std::vector<std::uint32_t> hot;
  for (std::uint32_t i = 0; all > from && i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (!block.until && !block.is_derived &&
        static_cast<double>(block.passes) > share * static_cast<double>(all)) {
      hot.push_back(i);
    }
  }
  remove_probes(hot, now);
  return hot.size();
}

void ProbedCode::remove_probes(std::span<const std::uint32_t> numbers, core::TimePoint now) {
  if (derives_) {
    settle();
  }
  std::set<std::uint32_t> all(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    // Nobody sees any more where an indirect jump goes: it may find a way into the middle of any
    // block of its function.
    const ProbedFunction& function = functions_[blocks_[number].function];
    const auto& open = function.unresolved;
    if (std::find(open.begin(), open.end(), blocks_[number].last.address) != open.end()) {
      all.insert(function.blocks.begin(), function.blocks.end());
    }
  }
  std::vector<BreakpointSite*> sites;
  for (const std::uint32_t number : all) {
    Block& block = blocks_[number];
    BreakpointSite* const site = block.probe == Address{} ? nullptr : inserted_at(block.probe);
    if (site != nullptr && !block.until) {
      block.until = now;
      block.is_untold = true;
      sites.push_back(site);
    }
  }
  std::set<std::uint32_t> functions;
  for (const std::uint32_t number : all) {
    functions.insert(blocks_[number].function);
  }
  for (const std::uint32_t number : functions) {
    end_derived(functions_[number], now);
  }
  remove_all(std::move(sites));
}

core::CodeProbed ProbedCode::take() {
  settle();
  core::CodeProbed probed;
  probed.edges = std::exchange(settled_, {});
  for (Block& block : blocks_) {
    if (block.probe == Address{} || (block.hits == block.told && !block.is_untold)) {
      continue;
    }
    probed.blocks.push_back({block.start, block.size, block.instructions,
                             static_cast<std::uint32_t>(block.last.address - block.start),
                             block.falls_through, block.hits - block.told, block.first_hit,
                             block.last_hit, block.since, block.until});
    block.told = block.hits;
    block.is_untold = false;
  }
  return probed;
}

}  // namespace sp::supervisor
