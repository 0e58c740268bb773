#include "supervisor/instruments/probes/copy_installer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/copy_removal.h"
#include "supervisor/instruments/probes/event_places.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/unknown_frames.h"

namespace sp::supervisor {

bool CopyInstaller::has_counters(Tracee& tracee) {
  auto& space = probed_code(*tracee.process).copy_space();
  if (space == nullptr) {
    space = std::make_shared<CopySpace>();
  }
  if (space->is_refused || (!space->slots && !create_counters(tracee))) {
    return false;
  }
  supervisor::give_counters(tracee);
  return have_all_counters(tracee);
}

void CopyInstaller::give_counters(const Tracee& tracee, bool can_call) {
  // A thread begins in a stop in which it can make calls: there, and in others like it.
  constexpr std::size_t kSpare = 8;
  ProbedCode& code = probed_code(*tracee.process);
  const auto& space = code.copy_space();
  if (space == nullptr || !space->slots || space->is_refused) {
    return;  // a new thread has its creator's base, which may be the program's own
  }
  CounterSlots& slots = *space->slots;
  if (slots.free_slots() < kSpare && can_call && !space->is_full) {
    space->is_full = !slots.grow({tracee.id.tid, code.trap_handler().syscall_site, false});
  }
  supervisor::give_counters(tracee);
  if (probed_thread(tracee).counts_in == nullptr) {
    refuse(tracee, fmt::format("no counters for {} threads", slots.threads() + 1));
  }
}

void CopyInstaller::refuse(const Tracee& tracee, std::string_view why) {
  ProbedCode& code = probed_code(*tracee.process);
  if (!code.copies().all().empty()) {
    core::log_note("process {}: its code is no longer copied: {}", tracee.process->id.pid, why);
  }
  code.copy_space()->is_refused = true;
  code.hot_functions().disable();
  remove(tracee, {core::Address{}, core::Address{~std::uint64_t{0}}});
}

void CopyInstaller::leave_counter_segment(const Tracee& tracee) {
  auto& space = probed_code(*tracee.process).copy_space();
  if (space == nullptr) {
    space = std::make_shared<CopySpace>();
  }
  if (!space->is_refused) {
    refuse(tracee, "it uses the counters' segment itself");
  }
}

/// All of them need counters now.
core::Result<void> CopyInstaller::make_enough_counters(const Tracee& tracee) const {
  ProbedCode& code = probed_code(*tracee.process);
  CounterSlots& slots = *code.copy_space()->slots;
  while (slots.free_slots() < tracees_.in(code).size()) {
    if (auto grown = slots.grow({tracee.id.tid, code.trap_handler().syscall_site, true}); !grown) {
      return grown;
    }
  }
  return {};
}

bool CopyInstaller::create_counters(Tracee& tracee) {
  ProbedCode& code = probed_code(*tracee.process);
  CopySpace& space = *code.copy_space();
  if (!counts_all_threads(tracee)) {
    space.is_refused = true;
    return false;
  }
  auto world = WorldStop::stop(tracees_, tracee, kLongestWorldStop);
  if (!world) {
    return false;
  }
  find_interrupted(code, tracees_, *world);
  const bool is_free =
      std::all_of(world->threads().begin(), world->threads().end(),
                  [](const HeldThread& held) { return has_free_counter_segment(held.tid); });
  auto slots = is_free
                   ? CounterSlots::create({tracee.id.tid, code.trap_handler().syscall_site, true},
                                          writes_events(code) ? CounterSlots::TableUse::events
                                                              : CounterSlots::TableUse::transfers)
                   : core::fail("the counters' segment is in use");
  core::Result<void> made = slots ? core::Result<void>{} : tl::unexpected(slots.error());
  if (slots) {
    space.slots.emplace(*std::move(slots));
    made = make_enough_counters(tracee);
  }
  if (!made) {
    core::log_note("process {}: its code is not copied: {}", tracee.process->id.pid,
                   made.error().message());
    space.is_refused = true;
    return false;
  }
  space.transfers_taken = core::Clock::now();
  for (Tracee* const other : tracees_.in(code)) {
    if (world->holds(other->id.tid) || !arch::Native::kHasCounterSegment) {
      supervisor::give_counters(*other);
    } else {
      (void)interrupt(*other);  // it gets its counters in that stop
    }
  }
  return true;
}

/// A thread that is not to be counted would count in the copies.
bool CopyInstaller::counts_all_threads(const Tracee& tracee) const {
  const auto all = tracees_.in(*tracee.process->code_state);
  return std::all_of(all.begin(), all.end(),
                     [](const Tracee* other) { return probed_thread(*other).counted; });
}

bool CopyInstaller::have_all_counters(const Tracee& tracee) const {
  const auto all = tracees_.in(*tracee.process->code_state);
  return std::all_of(all.begin(), all.end(), [](const Tracee* other) {
    return probed_thread(*other).counts_in != nullptr;
  });
}

void CopyInstaller::discard(ProbedCode& code, const PreparedCopy& prepared) {
  CopySpace& space = *code.copy_space();
  code.patches().remove_exits(prepared.room);
  space.slots->free(prepared.first_counter, prepared.counters);
  space.give_back(prepared.room);
}

std::vector<PreparedCopy> CopyInstaller::install(Tracee& tracee, std::vector<PreparedCopy> prepared,
                                                 core::TimePoint now) {
  auto world = WorldStop::stop(tracees_, tracee, kLongestWorldStop);
  if (!world) {
    return prepared;
  }
  CopyInstallation batch(probed_code(*tracee.process), tracees_, *world, std::move(prepared));
  batch.run(now);
  return batch.left_out();
}

void CopyInstaller::give_way(const Tracee& tracee, const core::FunctionCopy& copy,
                             core::Address pc) {
  ProbedCode& code = probed_code(*tracee.process);
  std::vector<core::Address> heads;
  auto changed = std::make_shared<core::FunctionCopy>(copy);
  for (const core::CopyLanding* const landing : copy.changes_from(pc)) {
    add_heads(*landing, heads);
    replace_by_breakpoint(*changed, landing->at);
  }
  auto world = WorldStop::stop(tracees_, tracee, kLongestWorldStop);
  const auto done =
      world ? code.patches().remove(
                  heads, [&world] { return world->stop_woken(kLongestWorldStop).has_value(); })
            : tl::unexpected(world.error());
  if (!done) {
    core::log_note("process {}: a signal comes in changed code: {}", tracee.process->id.pid,
                   done.error().message());
    return;
  }
  code.replace_copy(changed);
  code.insert_all(landing_sites(code, *changed));
}

void CopyInstaller::remove(const Tracee& stopped, core::AddressRange range) {
  ProbedCode& code = probed_code(*stopped.process);
  for (const std::uint32_t number : code.functions().in(range)) {
    code.function(number).refusal = core::CopyRefusal::unmovable;
  }
  const auto copies = code.copies().all().in(range);
  if (copies.empty()) {
    return;
  }
  auto world = WorldStop::stop(tracees_, stopped, kLongestWorldStop);
  if (!world || !CopyRemoval(code, tracees_, *world).run(copies)) {
    core::log_note("process {}: code that may be written to still runs from copies",
                   stopped.process->id.pid);
    return;
  }
  if (writes_events(code)) {
    code.trace()->recorder->read_copies(code, true);
  }
  for (const auto& copy : copies) {
    const ProbedFunction* const function = code.functions().at(copy->original.begin);
    if (function != nullptr) {
      code.insert_probes(*function);
    }
  }
  CopyRemoval(code, tracees_, *world).uncount_ahead(copies);
}

bool CopyInstaller::drop(const Tracee& stopped, const std::vector<std::uint32_t>& functions,
                         core::TimePoint now) {
  ProbedCode& code = probed_code(*stopped.process);
  std::vector<CopiedFunctions::Copy> copies;
  copies.reserve(functions.size());
  for (const std::uint32_t number : functions) {
    copies.push_back(code.copies().all().of(code.function(number).bounds.begin));
  }
  auto world = WorldStop::stop(tracees_, stopped, kLongestWorldStop);
  if (!world || !CopyRemoval(code, tracees_, *world).run(copies)) {
    return false;
  }
  if (writes_events(code)) {
    code.trace()->recorder->read_copies(code, true);
  }
  for (const std::uint32_t number : functions) {
    code.function(number).refusal = core::CopyRefusal::unmovable;
    end_counts(code, code.function(number), now);
    code.end_trace_of(code.function(number), now);
  }
  return true;
}

void CopyInstaller::remove_all(const TracedProcess& process, const Tracee* stopped) {
  ProbedCode& code = probed_code(process);
  if (code.copies().all().empty()) {
    return;
  }
  auto world = stopped != nullptr ? WorldStop::stop(tracees_, *stopped, kLongestWorldStop)
                                  : WorldStop::stop(tracees_, process, kLongestWorldStop);
  const bool is_done = world && CopyRemoval(code, tracees_, *world).run(code.copies().all().all());
  if (!is_done) {
    // Nobody may be within a jump while it changes but who executes it; that is all it takes.
    const auto is_original = code.patches().remove_all([] {
      wait_for_every_cpu();
      return true;
    });
    if (is_original) {
      code.patches().open_exits();
    }
    code.copy_space()->is_in_use = true;
  }
}

}  // namespace sp::supervisor
