#include "supervisor/instruments/probes/copy_place.h"

#include <algorithm>
#include <cstdint>

#include "arch/native.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/probed_thread.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::CopyRefusal;

/// What the rewriter may need for a copy, before it is made.
std::uint64_t largest_copy(const ProbedFunction& function, const core::ControlFlowGraph& graph,
                           CopyDetail detail) {
  constexpr std::uint64_t kCodeFactor = 3;
  constexpr std::uint64_t kOfBlock = 96;
  constexpr std::uint64_t kOfTransfer = 192;
  constexpr std::uint64_t kOfEvents = 384;
  const auto transfers =
      std::count_if(graph.blocks.begin(), graph.blocks.end(),
                    [](const auto& block) { return core::is_indirect(block.last.flow); });
  constexpr std::uint64_t kOfEntry = sizeof(std::uint64_t);
  constexpr std::uint64_t kOfTable = 32;
  std::uint64_t tables = 0;
  for (const core::BranchTable& table : graph.tables) {
    tables += kOfTable + kOfEntry * table.destinations->size();
  }
  const bool are_counted = detail != CopyDetail::blocks_and_branches;
  return tables + kCodeFactor * function.bounds.size() + kOfBlock * graph.blocks.size() + kOfBlock +
         (are_counted ? kOfTransfer * static_cast<std::uint64_t>(transfers) : 0) +
         (detail == CopyDetail::and_events ? kOfEvents : 0);
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

}  // namespace

tl::expected<core::CopyPlace, CopyRefusal> find_copy_place(Tracee& tracee,
                                                           const ProbedFunction& function,
                                                           const core::ControlFlowGraph& graph,
                                                           CopyDetail detail,
                                                           PreparedCopy& prepared) {
  constexpr std::uint64_t kAlignment = 16;
  ProbedCode& code = probed_code(*tracee.process);
  CopySpace& space = *code.copy_space();
  const FunctionIndex::Module& module = *code.functions().module_at(function.bounds.begin);
  CopyRegion& region =
      space.regions.try_emplace(module.mapped.begin, span_of(module), module.mapped.size())
          .first->second;
  const std::uint64_t size = largest_copy(function, graph, detail);
  auto at = region.allocate(size, kAlignment);
  if (!at && region.grow({tracee.id.tid, code.trap_handler().syscall_site, true}, size)) {
    at = region.allocate(size, kAlignment);
  }
  if (!at) {
    return tl::unexpected(CopyRefusal::no_room);
  }
  prepared.room = {*at, *at + size};
  prepared.counters = core::most_counters(graph, detail == CopyDetail::and_transfers);
  const auto counter = space.slots->allocate(prepared.counters);
  if (!counter) {
    region.free(prepared.room);
    return tl::unexpected(CopyRefusal::no_counter);
  }
  prepared.first_counter = *counter;
  auto ring = detail == CopyDetail::and_events ? space.slots->ring_at() : std::nullopt;
  if (ring) {
    ring->waits = code.trace()->recorder->waits();
  }
  return core::CopyPlace{
      *at,
      size,
      space.slots->counters_at(*counter),
      detail == CopyDetail::and_transfers ? space.slots->transfers_at() : std::nullopt,
      ring,
      arch::native_adds_in_memory()};
}

}  // namespace sp::supervisor
