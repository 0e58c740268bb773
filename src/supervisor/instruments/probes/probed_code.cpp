#include "supervisor/instruments/probes/probed_code.h"

#include <algorithm>
#include <set>
#include <utility>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// Memory in which every access works.
class AnyMemory final : public arch::MemoryAccess {
 public:
  [[nodiscard]] bool read(Address /*from*/, std::span<std::byte> to) override {
    std::fill(to.begin(), to.end(), std::byte{});
    return true;
  }
  [[nodiscard]] bool write(Address /*to*/, std::span<const std::byte> /*from*/) override {
    return true;
  }
};

bool can_be_moved(Address address, std::span<const std::byte> code) {
  constexpr std::uint64_t kSomewhereNear = 1U << 20U;
  return Native::relocate(code, address, address + kSomewhereNear).has_value();
}

bool is_emulated(Address address, std::span<const std::byte> code) {
  Native::Registers registers{};
  Native::set_pc(registers, address);
  AnyMemory memory;
  return Native::emulate(registers, code, memory) == arch::Emulated::done;
}

}  // namespace

ProbedCode::ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent)
    : PlantedCode(owner, tid, parent, 0),
      maps_(parent.maps_),
      watched_(parent.watched_),
      functions_(parent.functions_),
      by_address_(parent.by_address_),
      blocks_(parent.blocks_),
      block_at_(parent.block_at_),
      deriving_(parent.deriving_),
      derives_(parent.derives_),
      loader_(parent.loader_) {
  for (const std::uint32_t number : deriving_) {
    for (Derived& derived : functions_[number].derived) {
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

void ProbedCode::watch(const core::InstrumentationCandidates& plan, std::uint64_t bias, core::AddressRange mapped,
                       Since since) {
  watched_.push_back({mapped, plan.is_whole, since});
  std::vector<Site*> entries;
  for (const core::CandidateFunction& planned : plan.functions) {
    const core::AddressRange bounds{Address{planned.begin + bias}, Address{planned.end + bias}};
    if (!mapped.contains(bounds.begin) || bounds.end > mapped.end) {
      continue;
    }
    const auto first = decode(bounds.begin);
    if (!first) {
      continue;
    }
    Function function;
    function.bounds = bounds;
    for (const std::uint64_t pad : planned.landing_pads) {
      function.leaders.push_back(Address{pad + bias});
    }
    function.since = since;
    function.number = static_cast<std::uint32_t>(functions_.size());
    by_address_.push_back(function.number);
    functions_.push_back(std::move(function));
    if (first->flow != core::Flow::stop) {
      entries.push_back(&site_of(*first));
    }
  }
  std::sort(by_address_.begin(), by_address_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return functions_[a].bounds < functions_[b].bounds;
  });
  plant_all(std::move(entries));
}

void ProbedCode::watch_loader(Address address) {
  const auto instruction = decode(address);
  if (!instruction) {
    return;
  }
  Site& site = site_of(*instruction);
  if (!site.planted) {  // it is where the loader is to have probes too
    site.block = Site::kMapsChanged;
    (void)plant(site);
  }
  loader_ = site.planted ? address : Address{};
}

bool ProbedCode::watches(core::AddressRange mapped) const {
  return std::any_of(watched_.begin(), watched_.end(),
                     [&](const Watched& watched) { return watched.mapped == mapped; });
}

void ProbedCode::unwatch(core::AddressRange mapped) {
  std::erase_if(watched_, [&](const Watched& watched) { return watched.mapped == mapped; });
  std::erase_if(by_address_, [&](std::uint32_t number) {
    return mapped.contains(functions_[number].bounds.begin);
  });
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

std::vector<core::AddressRange> ProbedCode::gone(const std::vector<core::Mapping>& maps) const {
  std::vector<core::AddressRange> gone;
  for (const Watched& watched : watched_) {
    gone.push_back(watched.mapped);
  }
  for (const core::Mapping& mapping : maps) {
    std::erase(gone, mapping.range);
  }
  return gone;
}

std::vector<std::uint32_t>::const_iterator ProbedCode::first_behind(Address address) const {
  return std::upper_bound(
      by_address_.begin(), by_address_.end(), address,
      [this](Address a, std::uint32_t number) { return a < functions_[number].bounds.begin; });
}

const ProbedCode::Function* ProbedCode::function_at(Address address) const {
  const auto behind = first_behind(address);
  if (behind == by_address_.begin()) {
    return nullptr;
  }
  const Function& function = functions_[*(behind - 1)];
  return function.bounds.contains(address) ? &function : nullptr;
}

ProbedCode::Function* ProbedCode::function_at(Address address) {
  return const_cast<Function*>(std::as_const(*this).function_at(address));  // NOLINT
}

bool ProbedCode::needs_map(Address address) const {
  if (block_at_.contains(address)) {
    return false;
  }
  const Function* const function = function_at(address);
  return function == nullptr ? whole_at(address) != nullptr
                             : function->state != Function::State::left;
}

const ProbedCode::Watched* ProbedCode::whole_at(Address address) const {
  const auto found = std::find_if(watched_.begin(), watched_.end(), [&](const Watched& watched) {
    return watched.is_whole && watched.mapped.contains(address);
  });
  return found == watched_.end() ? nullptr : &*found;
}

/// Code that nothing spoke for (a linker's stub), up to what something does.
ProbedCode::Function& ProbedCode::add_function(Address begin, const Watched& watched) {
  const auto behind = first_behind(begin);
  Function function;
  function.number = static_cast<std::uint32_t>(functions_.size());
  function.since = watched.since;
  function.bounds = {
      begin, behind == by_address_.end() ? watched.mapped.end : functions_[*behind].bounds.begin};
  by_address_.insert(behind, function.number);
  functions_.push_back(std::move(function));
  return functions_.back();
}

std::optional<Address> ProbedCode::unmapped_at(Address address) const {
  const Function* const function = function_at(address);
  if (function == nullptr) {
    return std::nullopt;
  }
  if (function->state != Function::State::mapped) {
    return function->bounds.begin;
  }
  const bool is_in_block =
      std::any_of(function->blocks.begin(), function->blocks.end(), [&](std::uint32_t number) {
        const Block& block = blocks_[number];
        return core::AddressRange{block.start, block.start + block.size}.contains(address);
      });
  return is_in_block ? std::nullopt : std::optional(address);
}

bool ProbedCode::is_in_function(Address address) const { return function_at(address) != nullptr; }

bool ProbedCode::is_to_be_explored(Address address) const {
  constexpr std::uint32_t kMost = 16;
  const Function* const function = function_at(address);
  return function != nullptr && function->explorations < kMost &&
         (function->state != Function::State::mapped || !function->unresolved.empty());
}

void ProbedCode::note_exploration(Address address) {
  if (Function* const function = function_at(address); function != nullptr) {
    ++function->explorations;
  }
}

void ProbedCode::map(Address address, std::optional<core::TimePoint> unseen) {
  Function* function = function_at(address);
  if (const Watched* const watched = whole_at(address); function == nullptr && watched != nullptr) {
    function = &add_function(address, *watched);
  }
  if (function == nullptr) {
    return;
  }
  std::set<Address> leaders(function->leaders.begin(), function->leaders.end());
  leaders.insert(function->bounds.begin);
  leaders.insert(address);
  for (const std::uint32_t number : function->blocks) {
    leaders.insert(blocks_[number].start);
  }
  const core::ControlFlowGraph map =
      maps_.map(function->bounds, std::vector<Address>(leaders.begin(), leaders.end()),
                [this](Address from, std::span<std::byte> into) { return fetch(from, into); });
  const bool is_new = function->state != Function::State::mapped;
  if (derives_ && !is_new) {
    settle();  // by what was known so far
  }
  if (is_new) {
    // Who was in it when it began to be watched has not been seen.
    if (function->state != Function::State::awaited || !function->since.is_new) {
      function->since = {core::Clock::now(), true};
    }
    function->state = Function::State::mapped;
    ++functions_mapped_;
  }
  adopt(*function, map, unseen ? unseen : function->since.time);
  derive(*function);
  give_probes(*function);
}

/// Takes over what is new in a map of a function, some blocks of which may be known.
void ProbedCode::adopt(Function& function, const core::ControlFlowGraph& map,
                       std::optional<core::TimePoint> since) {
  function.unresolved = map.unresolved;
  const auto number_of = [this](Address start) {
    const auto found = block_at_.find(start);
    return found == block_at_.end() ? Site::kNoBlock : found->second;
  };
  std::vector<std::uint32_t> known = function.blocks;
  std::sort(known.begin(), known.end(), [this](std::uint32_t a, std::uint32_t b) {
    return blocks_[a].start < blocks_[b].start;
  });
  std::vector<core::BasicBlock> fresh;
  for (const core::BasicBlock& mapped : map.blocks) {
    if (number_of(mapped.start) == Site::kNoBlock) {
      fresh.push_back(mapped);
    }
  }
  for (const core::BasicBlock& mapped : fresh) {
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
  for (const core::BasicBlock& mapped : map.blocks) {
    Block& block = blocks_[block_at_.at(mapped.start)];
    update(block, mapped);
  }
}

void ProbedCode::update(Block& block, const core::BasicBlock& mapped) {
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
  block.probe = choose_probe(mapped);
}

/// The transfer at its end, which tells where control goes; else the last instruction that is done
/// in the thread's stead, or else that can be done elsewhere.
Address ProbedCode::choose_probe(const core::BasicBlock& mapped) {
  Address choice;
  Address second;
  Address at = mapped.start;
  for (const std::uint8_t length : mapped.lengths) {
    std::array<std::byte, kLongestCode> code{};
    const std::size_t size = fetch(at, code);
    const auto instruction = Native::decode(std::span(code).first(size), at);
    const bool runs_on = instruction && instruction->flow == core::Flow::next;
    const bool transfers =
        instruction && core::ends_block(instruction->flow) && instruction->flow != core::Flow::stop;
    if (is_in_sequence(at)) {
      // A breakpoint there would make it endless.
    } else if ((runs_on || transfers) && is_emulated(at, code)) {
      choice = at;
    } else if (runs_on && can_be_moved(at, std::span(code).first(size))) {
      second = at;
    }
    at = at + length;
  }
  return choice == Address{} ? second : choice;
}

void ProbedCode::give_probes(Function& function) {
  take_entry_away(function);
  std::vector<Site*> sites;
  for (const std::uint32_t number : function.blocks) {
    const Block& block = blocks_[number];
    const bool has_none = block.probe == Address{} || block.is_derived;
    const auto instruction = has_none ? std::nullopt : decode(block.probe);
    if (!instruction) {
      continue;
    }
    Site& site = site_of(*instruction);
    site.block = number;
    if (!site.planted && !block.until) {
      sites.push_back(&site);
    }
  }
  probes_ += sites.size();
  plant_all(sites);
}

/// Where it is no block's probe.
void ProbedCode::take_entry_away(Function& function) {
  Site* const entry = planted_at(function.bounds.begin);
  const auto first = block_at_.find(function.bounds.begin);
  if (entry != nullptr && entry->block == Site::kNoBlock &&
      (first == block_at_.end() || blocks_[first->second].probe != function.bounds.begin)) {
    (void)lift(*entry);
  }
}

void ProbedCode::leave_unmapped() {
  std::vector<Site*> entries;
  for (Function& function : functions_) {
    if (function.state != Function::State::awaited) {
      continue;
    }
    function.state = Function::State::left;
    Site* const entry = planted_at(function.bounds.begin);
    if (entry != nullptr && entry->block == Site::kNoBlock) {
      entries.push_back(entry);
    }
  }
  lift_all(std::move(entries));
}

void ProbedCode::await(Address address, core::TimePoint now) {
  Function* const function = function_at(address);
  if (function == nullptr || function->state != Function::State::left) {
    return;
  }
  const auto first = decode(function->bounds.begin);
  if (first && first->flow != core::Flow::stop) {
    function->state = Function::State::awaited;
    function->since = {now, false};
    (void)plant(site_of(*first));
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
  remove(std::span(hot).first(removed), now);
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
  remove(hot, now);
  return hot.size();
}

void ProbedCode::remove(std::span<const std::uint32_t> numbers, core::TimePoint now) {
  if (derives_) {
    settle();
  }
  std::set<std::uint32_t> all(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    // Nobody sees any more where an indirect jump goes: it may find a way into the middle of any
    // block of its function.
    const Function& function = functions_[blocks_[number].function];
    const auto& open = function.unresolved;
    if (std::find(open.begin(), open.end(), blocks_[number].last.address) != open.end()) {
      all.insert(function.blocks.begin(), function.blocks.end());
    }
  }
  std::vector<Site*> sites;
  for (const std::uint32_t number : all) {
    Block& block = blocks_[number];
    Site* const site = block.probe == Address{} ? nullptr : planted_at(block.probe);
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
  lift_all(std::move(sites));
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
