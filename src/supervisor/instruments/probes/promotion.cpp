#include "supervisor/instruments/probes/promotion.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <utility>

#include "core/log.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/probed_modules.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::CopyRefusal;

/// Between two stops of all threads.
constexpr core::Duration kBetweenStops = std::chrono::milliseconds(10);

/// What the rewriter may need for a copy, before it is made.
std::uint64_t largest_copy(const ProbedFunction& function, std::size_t blocks) {
  constexpr std::uint64_t kCodeFactor = 3;
  constexpr std::uint64_t kOfBlock = 64;
  return kCodeFactor * function.bounds.size() + kOfBlock * blocks + kOfBlock;
}

/// From the first to the last address of the module's segments.
core::AddressRange span_of(const FunctionIndex::Module& module) {
  core::AddressRange span = module.mapped;
  for (const core::LoadSegment& segment : module.file.image->segments()) {
    span.begin = std::min(span.begin, Address{segment.address + module.bias});
    span.end = std::max(span.end, Address{segment.address + segment.memory_size + module.bias});
  }
  return span;
}

/// Threads may come back from a signal's handler to these addresses.
void avoid(const std::set<Address>& interrupted, core::FunctionCopy& copy) {
  for (auto at = interrupted.lower_bound(copy.original.begin);
       at != interrupted.end() && *at < copy.original.end; ++at) {
    std::vector<Address> landings;
    for (const core::CopyLanding* const landing : copy.changes_from(*at)) {
      landings.push_back(landing->at);
    }
    for (const Address landing : landings) {
      replace_by_breakpoint(copy, landing);
    }
  }
}

/// A function that is only jumped to may be a cold part of another one, whose switches may lead
/// into it by tables that were not recognised.
bool is_called(const core::CodeReferences& references, std::uint64_t begin) {
  return std::binary_search(references.calls.begin(), references.calls.end(), begin) ||
         std::binary_search(references.pointers.begin(), references.pointers.end(), begin);
}

/// Appends those of the sorted ELF addresses that lie in the function.
void add_within(core::AddressRange bounds, const std::vector<std::uint64_t>& references,
                std::uint64_t bias, std::vector<Address>& to) {
  for (auto at =
           std::lower_bound(references.begin(), references.end(), bounds.begin.value() - bias);
       at != references.end() && *at < bounds.end.value() - bias; ++at) {
    to.push_back(Address{*at + bias});
  }
}

/// The function jumps to its own first instruction; where it does so by a pointer, as it would to
/// any function, that is a tail call.
bool jumps_to(const core::ControlFlowGraph& graph, Address entry) {
  return std::any_of(graph.blocks.begin(), graph.blocks.end(),
                     [entry](const core::BasicBlock& block) {
                       return block.last.flow != core::Flow::call && block.last.target == entry;
                     }) ||
         std::binary_search(graph.table_destinations.begin(), graph.table_destinations.end(),
                            entry);
}

/// The address is in the middle of an instruction, and so no pointer to code.
bool is_within_instruction(const core::ControlFlowGraph& graph, Address address) {
  const auto above =
      std::upper_bound(graph.blocks.begin(), graph.blocks.end(), address,
                       [](Address at, const core::BasicBlock& block) { return at < block.start; });
  if (above == graph.blocks.begin()) {
    return false;
  }
  Address at = std::prev(above)->start;
  for (const std::uint8_t length : std::prev(above)->lengths) {
    if (address <= at) {
      return address != at;
    }
    at = at + length;
  }
  return address < at;
}

}  // namespace

void Promotion::run(Tracee& tracee, core::TimePoint now) {
  if (!is_wanted_) {
    return;
  }
  ProbedCode& code = probed_code(*tracee.process);
  if (!code.hot_functions().any() || !code.may_insert() ||
      (tracee.process->threads > 1 && now < next_) || !installer_.has_counters(tracee)) {
    return;
  }
  const core::TimePoint begin = core::Clock::now();
  auto prepared = prepare_all(tracee, code.hot_functions().take());
  if (!prepared.empty()) {
    promoted_ += prepared.size();
    for (const PreparedCopy& later : installer_.install(tracee, std::move(prepared), now)) {
      --promoted_;
      CopyInstaller::discard(code, later);
      code.hot_functions().postpone(later.function);
    }
  }
  const core::TimePoint done = core::Clock::now();
  next_ = done + kBetweenStops;
  costs_.add_work(done - begin);
}

std::vector<PreparedCopy> Promotion::prepare_all(Tracee& tracee,
                                                 std::span<const std::uint32_t> functions) {
  ProbedCode& code = probed_code(*tracee.process);
  std::vector<PreparedCopy> all;
  for (const std::uint32_t number : functions) {
    ProbedFunction& function = code.function(number);
    if (function.state != ProbedFunction::State::instrumented || function.refusal) {
      continue;
    }
    auto prepared = prepare(tracee, function);
    if (prepared) {
      all.push_back(*std::move(prepared));
    } else {
      function.refusal = prepared.error();
      ++refused_.at(static_cast<std::size_t>(prepared.error()));
    }
  }
  return all;
}

namespace {

struct WaysIn {
  core::ControlFlowGraph graph;
  std::vector<Address> entries;
};

/// The function's graph with everything that may lead into it, and that; nothing if a jump may lead
/// into the middle of an instruction. Changes nothing: bytes that are no code decode as jumps, too.
std::optional<WaysIn> find_ways_in(ProbedCode& code, const ProbedFunction& function,
                                   const core::CodeReferences& references, std::uint64_t bias) {
  const core::ControlFlowGraph own = code.map_with(function, function.landing_pads);
  const auto is_within = [&own](Address at) { return is_within_instruction(own, at); };
  std::vector<Address> entries = function.landing_pads;
  entries.push_back(function.bounds.begin);
  add_within(function.bounds, references.jumps, bias, entries);
  if (std::any_of(entries.begin(), entries.end(), is_within)) {
    return std::nullopt;
  }
  std::vector<Address> pointers;
  add_within(function.bounds, references.pointers, bias, pointers);
  std::erase_if(pointers, is_within);
  entries.insert(entries.end(), pointers.begin(), pointers.end());
  core::ControlFlowGraph graph = code.map_with(function, entries);
  return WaysIn{std::move(graph), std::move(entries)};
}

/// From a copy nobody tells that control comes to code that is not known. What jumps there may be
/// no code itself, so a destination within an instruction is none.
void instrument_destinations(ProbedCode& code, std::span<const Address> destinations) {
  for (const Address outside : destinations) {
    if (!code.needs_instrumentation(outside)) {
      continue;
    }
    const ProbedFunction* const function = code.functions().at(outside);
    if (function == nullptr || code.map_with(*function, std::span(&outside, 1)).unmapped.empty()) {
      code.instrument_function(outside, std::nullopt);
    }
  }
}

}  // namespace

Promotion::OrRefusal<PreparedCopy> Promotion::prepare(Tracee& tracee, ProbedFunction& function) {
  ProbedCode& code = probed_code(*tracee.process);
  const FunctionIndex::Module* const module = code.functions().module_at(function.bounds.begin);
  if (module == nullptr || module->file.image == nullptr) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  if (has_gate_in(code, function.bounds)) {
    return tl::unexpected(CopyRefusal::unmovable);
  }
  std::vector<std::byte> bytes(function.bounds.size());
  if (code.fetch(function.bounds.begin, bytes) != bytes.size()) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  const core::CodeReferences& references = analysis_.references(module->file);
  if (references.has_restartable_sequences) {
    return tl::unexpected(CopyRefusal::restartable_sequence);
  }
  instrument_stubs(code, *module, references.stubs);
  auto ways_in = find_ways_in(code, function, references, module->bias);
  if (!ways_in || !covers(ways_in->graph, code, function) || !ways_in->graph.unmapped.empty()) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  auto& [graph, entries] = *ways_in;
  core::FunctionToCopy to_copy;
  to_copy.bounds = function.bounds;
  to_copy.code = bytes;
  to_copy.graph = &graph;
  to_copy.entries = std::move(entries);
  to_copy.jumps_within = !code.has_unknown_frames() && !references.has_own_stacks &&
                         is_called(references, function.bounds.begin.value() - module->bias);
  if (!keeps_all_ && !to_copy.jumps_within) {
    return tl::unexpected(CopyRefusal::open_function);  // most of its landings would be breakpoints
  }
  to_copy.allow_spill = !references.has_own_stacks;
  PreparedCopy prepared;
  prepared.function = function.number;
  const auto place = find_place(tracee, function, graph.blocks.size(), prepared);
  if (!place) {
    return tl::unexpected(place.error());
  }
  auto copy = analysis_.copy(to_copy, *place);
  if (!copy) {
    CopyInstaller::discard(code, prepared);
    return tl::unexpected(copy.error());
  }
  instrument_destinations(code, graph.transfers);
  code.adopt(function, graph);
  prepared.copy = std::make_shared<core::FunctionCopy>(*std::move(copy));
  avoid(code.interrupted(), *prepared.copy);
  code.copy_space()->give_back({prepared.copy->range().end, prepared.room.end});
  prepared.room.end = prepared.copy->range().end;
  prepared.jumps_to_entry = jumps_to(graph, function.bounds.begin);
  return prepared;
}

Promotion::OrRefusal<core::CopyPlace> Promotion::find_place(Tracee& tracee,
                                                            const ProbedFunction& function,
                                                            std::size_t blocks,
                                                            PreparedCopy& prepared) {
  constexpr std::uint64_t kAlignment = 16;
  ProbedCode& code = probed_code(*tracee.process);
  CopySpace& space = *code.copy_space();
  const FunctionIndex::Module& module = *code.functions().module_at(function.bounds.begin);
  CopyRegion& region =
      space.regions.try_emplace(module.mapped.begin, span_of(module), module.mapped.size())
          .first->second;
  const std::uint64_t size = largest_copy(function, blocks);
  auto at = region.allocate(size, kAlignment);
  if (!at && region.grow({tracee.id.tid, code.trap_handler().syscall_site, true}, size)) {
    at = region.allocate(size, kAlignment);
  }
  if (!at) {
    return tl::unexpected(CopyRefusal::no_room);
  }
  prepared.room = {*at, *at + size};
  prepared.counters = static_cast<std::uint32_t>(blocks);
  const auto counter = space.slots->allocate(prepared.counters);
  if (!counter) {
    region.free(prepared.room);
    return tl::unexpected(CopyRefusal::no_counter);
  }
  prepared.first_counter = *counter;
  return core::CopyPlace{*at, size, space.slots->counters_at(*counter)};
}

void Promotion::note_landing(const Tracee& tracee, Address landing, core::TimePoint now) {
  constexpr std::uint64_t kFew = 256;
  ProbedCode& code = probed_code(*tracee.process);
  ProbedFunction* const function = code.functions().at(landing);
  if (function != nullptr && ++function->landings > kFew && !keeps_all_ && costs_.is_exceeded() &&
      function->state == ProbedFunction::State::copied) {
    installer_.drop(tracee, *function, now);
    ++dropped_;
  }
}

void Promotion::fill(core::Copying& copying) const {
  copying.functions = promoted_;
  copying.dropped = dropped_;
  for (std::size_t i = 0; i < refused_.size(); ++i) {
    if (const std::uint64_t count = refused_.at(i); count > 0) {
      copying.refused.push_back(
          {std::string(core::to_string(static_cast<core::CopyRefusal>(i))), count});
    }
  }
}

}  // namespace sp::supervisor
