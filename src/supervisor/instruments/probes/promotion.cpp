#include "supervisor/instruments/probes/promotion.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/log.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/copied_tables.h"
#include "supervisor/instruments/probes/copy_conditions.h"
#include "supervisor/instruments/probes/copy_place.h"
#include "supervisor/instruments/probes/dear_copies.h"
#include "supervisor/instruments/probes/event_places.h"
#include "supervisor/instruments/probes/forbidden_ticks.h"
#include "supervisor/instruments/probes/places_in_code.h"
#include "supervisor/instruments/probes/probed_modules.h"
#include "supervisor/instruments/probes/ways_in.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::CopyRefusal;

/// Between two stops of all threads.
constexpr core::Duration kBetweenStops = std::chrono::milliseconds(10);

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

/// Many threads may take too long to stop: when to try again, so that most of the time is theirs.
core::TimePoint after_failure(core::TimePoint begin) {
  constexpr int kTimes = 20;
  const core::TimePoint now = core::Clock::now();
  return now + kTimes * (now - begin);
}

bool has_indirect_transfers(ProbedCode& code, const ProbedFunction& function) {
  return std::any_of(function.blocks.begin(), function.blocks.end(), [&](std::uint32_t number) {
    const core::Flow flow = code.block(number).last.flow;
    return flow == core::Flow::indirect_call || flow == core::Flow::indirect_jump;
  });
}

}  // namespace

void Promotion::run(Tracee& tracee, core::TimePoint now) {
  if (!is_wanted_) {
    return;
  }
  ProbedCode& code = probed_code(*tracee.process);
  if (!code.hot_functions().any() || !code.may_insert() || now < next_try_ ||
      (tracee.process->threads > 1 && now < next_)) {
    return;
  }
  const core::TimePoint begin = core::Clock::now();
  if (!installer_.has_counters(tracee)) {
    next_ = after_failure(begin);
    return;
  }
  auto prepared = prepare_all(tracee, code.hot_functions().take());
  bool has_failed = false;
  if (!prepared.empty()) {
    const std::uint64_t before = promoted_;
    promoted_ += prepared.size();
    for (const PreparedCopy& later : installer_.install(tracee, std::move(prepared), now)) {
      has_failed = --promoted_ == before;
      CopyInstaller::discard(code, later);
      code.hot_functions().postpone(later.function);
    }
    costs_.add_copied(promoted_ - before);
  }
  const core::TimePoint done = core::Clock::now();
  next_ = done + (keeps_all_ ? std::min(kBetweenStops, done - begin) : kBetweenStops);
  next_ = has_failed ? std::max(next_, after_failure(begin)) : next_;
  costs_.add_work(done - begin);
}

bool Promotion::is_at_once(const Tracee& tracee, core::TimePoint now) const {
  return is_wanted_ && keeps_all_ && probed_thread(tracee).counted &&
         (tracees_.in(*tracee.process->code_state).size() == 1 || now >= next_);
}

void Promotion::run_at_once(Tracee& tracee, ProbedFunction& function, core::TimePoint now) {
  ProbedCode& code = probed_code(*tracee.process);
  if (!writes_events(code) && has_indirect_transfers(code, function) &&
      !copy_counts_transfers(tracee, function)) {
    HotFunctions::expect(function);  // a copy does not show where they lead, as probes do
  } else {
    (void)code.hot_functions().make_due(function, now);
    run(tracee, now);
  }
  function.awaits_copy = false;
  if (function.state == ProbedFunction::State::instrumented) {
    code.insert_probes(function);
  }
}

bool Promotion::copy_counts_transfers(Tracee& tracee, const ProbedFunction& function) {
  ProbedCode& code = probed_code(*tracee.process);
  const FunctionIndex::Module* const module = code.functions().module_at(function.bounds.begin);
  const core::CodeReferences* const references = module != nullptr && module->file.image != nullptr
                                                     ? analysis_.references(module->file)
                                                     : nullptr;
  return references != nullptr && !references->has_own_stacks && installer_.has_counters(tracee) &&
         code.copy_space()->slots->transfers_at();
}

std::vector<PreparedCopy> Promotion::prepare_all(Tracee& tracee,
                                                 std::span<const std::uint32_t> functions) {
  ProbedCode& code = probed_code(*tracee.process);
  std::vector<PreparedCopy> all;
  for (const std::uint32_t number : functions) {
    ProbedFunction& function = code.function(number);
    const FunctionIndex::Module* const module = code.functions().module_at(function.bounds.begin);
    if (module != nullptr && module->file.image != nullptr &&
        analysis_.references(module->file) == nullptr) {
      code.hot_functions().postpone(number);
      next_try_ = core::Clock::now() + std::chrono::milliseconds(1);
      continue;
    }
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

/// From a copy nobody tells that control comes to code that is not known, unless a breakpoint on a
/// function's entry does.
void instrument_destinations(ProbedCode& code, std::span<const Address> destinations) {
  std::vector<Address> unknown;
  std::copy_if(destinations.begin(), destinations.end(), std::back_inserter(unknown),
               [&code](Address at) {
                 return code.needs_instrumentation(at) && !code.is_awaiting_entry(at);
               });
  instrument_places(code, unknown);
}

/// The copy needs less room and fewer counters than were reserved for it.
void give_back_unused(CopySpace& space, PreparedCopy& prepared) {
  space.give_back({prepared.copy->range().end, prepared.room.end});
  prepared.room.end = prepared.copy->range().end;
  const std::uint32_t unused =
      prepared.counters - std::exchange(prepared.counters, prepared.copy->counters);
  if (unused > 0) {
    space.slots->free(prepared.first_counter + prepared.counters, unused);
  }
}

}  // namespace

CopyDetail Promotion::detail_of_copies(ProbedCode& code) const {
  if (writes_events(code)) {
    return CopyDetail::and_events;
  }
  return keeps_all_ ? CopyDetail::and_transfers : CopyDetail::blocks_and_branches;
}

Promotion::OrRefusal<PreparedCopy> Promotion::prepare(Tracee& tracee, ProbedFunction& function) {
  ProbedCode& code = probed_code(*tracee.process);
  const FunctionIndex::Module* const module = code.functions().module_at(function.bounds.begin);
  if (module == nullptr || module->file.image == nullptr) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  const core::CodeReferences& references = *analysis_.references(module->file);
  if (references.uses_counter_segment) {
    installer_.leave_counter_segment(tracee);
  }
  if (const auto refusal = refuse_copy(code, function, references)) {
    return tl::unexpected(*refusal);
  }
  std::vector<std::byte> bytes(function.bounds.size());
  if (code.fetch(function.bounds.begin, bytes) != bytes.size()) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  instrument_stubs(code, *module, references.stubs);
  auto ways_in = WaysIntoFunctions(code, analysis_, references, module->bias).find(function);
  if (!ways_in || !covers(ways_in->graph, code, function) || !ways_in->graph.unmapped.empty()) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  auto& [graph, entries, are_all, is_called] = *ways_in;
  core::FunctionToCopy to_copy;
  to_copy.bounds = function.bounds;
  to_copy.code = bytes;
  const std::vector<std::byte> behind = fetch_gap_behind(code, function, references, module->bias);
  to_copy.behind = behind;
  to_copy.graph = &graph;
  to_copy.entries = std::move(entries);
  to_copy.jumps_within = !code.has_unknown_frames() && !references.has_own_stacks && are_all;
  if (!keeps_all_ && !to_copy.jumps_within) {
    return tl::unexpected(CopyRefusal::open_function);  // most of its landings would be breakpoints
  }
  to_copy.is_called = is_called;
  to_copy.returns_flags = returns_flags(function, references, module->bias);
  to_copy.allow_spill = !references.has_own_stacks;
  if (writes_events(code) && !add_event_places(code, function, to_copy)) {
    return tl::unexpected(CopyRefusal::no_events);
  }
  add_tables(code, *module, graph, to_copy);
  PreparedCopy prepared;
  prepared.function = function.number;
  const auto place = find_copy_place(tracee, function, graph, detail_of_copies(code), prepared);
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
  give_back_unused(*code.copy_space(), prepared);
  prepared.jumps_to_entry = jumps_to(graph, function.bounds.begin);
  return prepared;
}

void Promotion::note_landing(const Tracee& tracee, Address landing, core::TimePoint now) {
  constexpr std::uint64_t kFew = 256;
  ProbedCode& code = probed_code(*tracee.process);
  ProbedFunction* const function = code.functions().at(landing);
  if (function != nullptr && ++function->landings > kFew && !keeps_all_ && costs_.is_exceeded() &&
      function->state == ProbedFunction::State::copied &&
      installer_.drop(tracee, {function->number}, now)) {
    ++dropped_;
  }
}

int Promotion::prepare_for_signal(const Tracee& tracee, int signal) {
  if (!is_wanted_) {
    return signal;
  }
  ProbedCode& code = probed_code(*tracee.process);
  if (!writes_events(code) || !is_by_reading_ticks(tracee)) {
    supervisor::prepare_for_signal(tracee, installer_);
    return signal;
  }
  leave_function_copy(tracee);
  code.hot_functions().disable();
  demote(tracee, {Address{}, Address{~std::uint64_t{0}}});
  return 0;
}

void Promotion::keep_to_budget(const Tracee& tracee, core::TimePoint now) {
  if (keeps_all_) {
    return;
  }
  ProbedCode& code = probed_code(*tracee.process);
  const core::Duration cpu = costs_.target_cpu();
  const core::Duration since_last = cpu - std::exchange(code.copy_space()->looked_at_cpu, cpu);
  const auto uses = code.take_copy_uses();
  const auto limit = costs_.limit_of_copies();
  if (!limit) {
    return;
  }
  const auto dear = too_dear(uses, *limit, since_last);
  if (!dear.empty() && installer_.drop(tracee, dear, now)) {
    dropped_ += dear.size();
  }
}

void Promotion::fill(core::Copying& copying) const {
  copying.functions = promoted_;
  copying.dropped = dropped_;
  for (std::size_t i = 0; i < refused_.size(); ++i) {
    if (const std::uint64_t count = refused_.at(i); count > 0) {
      copying.refused.push_back({std::string(to_string(static_cast<CopyRefusal>(i))), count});
    }
  }
}

}  // namespace sp::supervisor
