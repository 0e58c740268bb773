// How probes come into a process and leave it: the other half of ProbeCounter.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/linux/process_files.h"
#include "supervisor/instruments/probes/probe_counter.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/instruments/remove_copies.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/breakpoints/memory_origin.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// The inode of the program that a process runs; 0 where that is not known.
std::uint64_t program_inode(pid_t tid) {
  struct stat stat {};
  return ::stat(fmt::format("/proc/{}/exe", tid).c_str(), &stat) == 0 ? stat.st_ino : 0;
}

std::shared_ptr<const core::ElfImage> image_of(const ProcessFiles& process,
                                               const core::Mapping& mapping) {
  const auto file = open_mapped_file(process, mapping);
  const auto mapped = file ? core::MappedFile::map(file->fd.get(), mapping.path)
                           : core::Result<std::shared_ptr<const core::MappedFile>>(core::fail(""));
  if (!mapped) {
    return nullptr;
  }
  const auto image = core::ElfImage::parse(*mapped);
  return image ? *image : nullptr;
}

bool can_hold_probes(const core::Mapping& mapping) {
  return mapping.executable && !mapping.writable && !mapping.shared && mapping.inode != 0 &&
         !mapping.path.empty() && mapping.path.front() == '/';
}

}  // namespace

void ProbeCounter::begin_process(TracedProcess& process, pid_t tid, bool from_start) {
  process.probed =
      std::make_shared<ProbedCode>(process.id, tid, *options_.maps, guardian_, options_.derives);
  process.from_start = from_start;
}

void ProbeCounter::begin_child(TracedProcess& process, pid_t tid,
                               const std::shared_ptr<ProbedCode>& origin) {
  if (shares_memory(*origin, tid)) {
    process.probed = origin;
  } else if (descent(*origin, tid) == Descent::from_before) {
    begin_process(process, tid, false);
  } else {
    process.probed = std::make_shared<ProbedCode>(process.id, tid, *origin);
    // Its handler is its parent's: most children are gone before that needs a look.
    process.probed->rescue().look_later(core::Clock::now());
  }
}

void ProbeCounter::clean_child(TracedProcess& process, pid_t tid,
                               const std::shared_ptr<ProbedCode>& origin) {
  begin_child(process, tid, origin);
  if (process.probed != origin) {
    process.probed->restore_all();
    process.probed->copies().remove(process.probed->rescue().call, tid);
    remove_rescue(*process.probed, tid);
    process.probed = nullptr;
  }
}

void ProbeCounter::look_after(Tracee& tracee, bool was_sampled) {
  TracedProcess& process = *tracee.process;
  ProbedCode& code = *process.probed;
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers || !code.plants()) {
    return;
  }
  const Address pc = Native::pc(*registers);
  if (trap_is_pending(tracee, pc)) {
    return;
  }
  if (!code.rescue().tried) {
    arm(tracee);
  } else if (was_sampled && options_.maps->wants_libraries() && !code.watches_loader() &&
             core::Clock::now() >= next_maps_) {
    watch_modules(process, tracee.id.tid, When::at_attach);
  }
  if (!code.watches_anything()) {
    return;
  }
  unblock_trap(tracee);
  keep_handler(tracee);
  if (!is_exceeded()) {
    serve(std::exchange(code.postponed(), {}), process);
  }
  if (was_sampled && !Native::leaving_syscall(*registers) && code.is_to_be_explored(pc)) {
    begin_window(tracee, pc);
  }
}

void ProbeCounter::arm(Tracee& tracee) {
  TracedProcess& process = *tracee.process;
  ProbedCode& code = *process.probed;
  const pid_t tid = tracee.id.tid;
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  if (!text || text->empty()) {
    return;
  }
  code.set_maps(core::parse_maps(*text));
  install_rescue(code, tid);
  if (!code.rescue().handler_is_ours) {
    code.plant_nothing();
    core::log_note("process {} {}: it is only sampled", process.id.pid,
                   reason_for_no_breakpoints(code));
    return;
  }
  code.rescue().look_later(core::Clock::now());
  watch_modules(process, tid, process.from_start ? When::at_start : When::at_attach);
  if (options_.maps->wants_libraries()) {
    watch_loader(code, {process.id, tid, foreign_root(process.id, tid)}, core::parse_maps(*text));
  }
}

/// The loader calls a function of its own after it has mapped a file and before it calls the
/// file's constructors, for debuggers (<link.h>, r_brk).
void ProbeCounter::watch_loader(ProbedCode& code, const ProcessFiles& files,
                                const std::vector<core::Mapping>& maps) {
  for (const core::Mapping& mapping : maps) {
    const std::string_view name =
        std::string_view(mapping.path).substr(mapping.path.rfind('/') + 1);
    if (!can_hold_probes(mapping) || (!name.starts_with("ld-") && !name.starts_with("ld."))) {
      continue;
    }
    const CodeMaps::File file{mapping.path, files.root, false, image_of(files, mapping)};
    const auto bias = file.image != nullptr ? load_bias(*file.image, mapping) : std::nullopt;
    const auto symbol = bias ? options_.maps->symbol(file, "_dl_debug_state") : std::nullopt;
    if (symbol && mapping.range.contains(Address{*symbol + *bias})) {
      code.watch_loader(Address{*symbol + *bias});
    }
  }
}

void ProbeCounter::watch_modules(TracedProcess& process, pid_t tid, When when) {
  constexpr int kShareOfTime = 32;
  const core::TimePoint begin = core::Clock::now();
  ProbedCode& code = *process.probed;
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  if (!text || text->empty()) {
    return;
  }
  const std::vector<core::Mapping> maps = core::parse_maps(*text);
  for (const core::AddressRange range : code.gone(maps)) {
    send_counts(process, {tid, 0});
    code.unwatch(range);
  }
  code.set_maps(maps);
  const std::uint64_t program = program_inode(tid);
  const ProcessFiles files{process.id, tid, foreign_root(process.id, tid)};
  bool told = false;
  for (const core::Mapping& mapping : maps) {
    CodeMaps::File file{mapping.path, files.root, mapping.inode == program, nullptr};
    if (!can_hold_probes(mapping) || code.watches(mapping.range) || !options_.maps->wants(file)) {
      continue;
    }
    file.image = image_of(files, mapping);
    const auto bias = file.image != nullptr ? load_bias(*file.image, mapping) : std::nullopt;
    if (!bias || file.image->machine() != Native::kElfMachine) {
      code.watch({}, 0, mapping.range, {});  // not looked at again
      continue;
    }
    if (!std::exchange(told, true)) {
      // What is counted from now on is meant as these say.
      outbox_.deliver({process.id, {tid, 0}, begin, core::MappingSnapshot{maps}});
    }
    ProbedCode::Since since{core::Clock::now(), when != When::at_attach};
    if (when == When::at_start) {
      since.time.reset();
    }
    code.watch(options_.maps->plan(file), *bias, mapping.range, since);
    code.make_room_for_copies(mapping.range.begin, tid);
  }
  const core::Duration took = core::Clock::now() - begin;
  if (when != When::at_start) {
    spend(took);  // before its first instruction nothing of the program's is delayed
  }
  next_maps_ = core::Clock::now() + took * kShareOfTime;
  note_totals(code);
}

void ProbeCounter::unblock_trap(Tracee& tracee) {
  const auto mask = ptrace::signal_mask(tracee.id.tid);
  if (mask && (*mask & signal_bit(SIGTRAP)) != 0) {
    const std::uint64_t ours = *mask & ~signal_bit(SIGTRAP);
    if (ptrace::set_signal_mask(tracee.id.tid, ours)) {
      tracee.probed.unblocked_mask = ours;
    }
    tracee.process->probed->rescue().next_look = {};  // it may be forgotten already
  }
}

/// A breakpoint in a thread that blocks SIGTRAP makes the kernel forget the handler, and the target
/// may install its own. The first is seen from outside. To ask the target means to have it make a
/// call, in which it must not lose us: that is done less and less often.
void ProbeCounter::keep_handler(const Tracee& tracee) {
  constexpr core::Duration kMostBetween = std::chrono::minutes(1);
  const core::TimePoint now = core::Clock::now();
  PlantedCode::Rescue& rescue = tracee.process->probed->rescue();
  if (now < rescue.next_look) {
    return;
  }
  rescue.next_look = now + PlantedCode::Rescue::kBetweenLooks;
  const auto masks = read_signal_masks(tracee.id.tid);
  const bool is_there = masks && (masks->caught & signal_bit(SIGTRAP)) != 0;
  if (is_there && now < rescue.next_call) {
    return;
  }
  rescue.between_calls = std::min(2 * rescue.between_calls, kMostBetween);
  rescue.next_call = now + rescue.between_calls;
  if (!renew_rescue(*tracee.process->probed, tracee.id.tid)) {
    only_sample(tracee);
  }
}

void ProbeCounter::only_sample(const Tracee& tracee) {
  ProbedCode& code = *tracee.process->probed;
  send_counts(*tracee.process, tracee.id);
  code.restore_all();
  core::log_note("process {} handles SIGTRAP by now: from here on it is only sampled",
                 tracee.process->id.pid);
}

void ProbeCounter::begin_window(Tracee& tracee, Address pc) {
  if (is_exceeded()) {
    return;
  }
  ++windows_;
  tracee.process->probed->note_exploration(pc);
  tracee.probed.window.emplace();
  if (!note_step(tracee, pc)) {
    tracee.probed.window.reset();
  } else if (tracee.slot != nullptr) {
    tracee.slot->stepped = true;
  }
}

/// The thread is about to execute what is at `pc`. False where its window ends there: it was let
/// run.
bool ProbeCounter::note_step(Tracee& tracee, Address pc) {
  constexpr std::size_t kLongest = 64;
  core::Stepped& window = *tracee.probed.window;
  ProbedCode& code = *tracee.process->probed;
  core::Stepped::At at{pc, 0, {}};
  at.size = static_cast<std::uint8_t>(code.code_at(pc, at.code));
  const auto instruction = Native::decode(std::span(at.code).first(at.size), pc);
  const bool is_first = window.path.empty();
  window.path.push_back(at);
  const bool goes_on = instruction && window.path.size() < kLongest &&
                       instruction->flow != core::Flow::syscall &&
                       instruction->flow != core::Flow::stop && code.is_in_function(pc);
  if (!goes_on && !is_first) {
    end_window(tracee);
    (void)ptrace::resume(tracee.id.tid, 0);
  }
  return goes_on;
}

void ProbeCounter::end_window(Tracee& tracee) {
  core::Stepped window = std::move(*tracee.probed.window);
  tracee.probed.window.reset();
  if (tracee.slot != nullptr) {
    tracee.slot->stepped = false;
  }
  if (window.path.size() > 1) {
    steps_ += window.path.size() - 1;
    outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(), std::move(window)});
  }
}

void ProbeCounter::on_other_stop(Tracee& tracee) {
  tracee.probed.resumed_at = {};
  tracee.probed.was_stepped =
      tracee.probed.was_stepped || tracee.probed.aside || tracee.probed.window;
  if (tracee.probed.aside) {
    leave_aside(tracee);
  } else {
    pull_out(tracee);
  }
  if (tracee.probed.window) {
    end_window(tracee);
  }
}

void ProbeCounter::resume(Tracee& tracee, int signal) {
  if (signal == SIGTRAP && tracee.process->probed != nullptr &&
      give_up_handler(*tracee.process->probed, tracee.id.tid)) {
    only_sample(tracee);
  }
  if (signal != 0 && tracee.probed.window) {
    end_window(tracee);
  }
  if (signal == 0 && tracee.probed.window) {
    (void)ptrace::step(tracee.id.tid, 0);
  } else {
    (void)ptrace::resume(tracee.id.tid, signal);
  }
}

void ProbeCounter::serve(const core::ProbeFunctions& wanted, TracedProcess& process) {
  if (process.probed == nullptr || !process.probed->plants()) {
    return;
  }
  constexpr std::size_t kMost = 1000;
  core::ProbeFunctions& later = process.probed->postponed();
  for (const Address at : wanted.at) {
    const auto leader = process.probed->unmapped_at(at);
    if (leader && !is_exceeded()) {
      map(*process.probed, *leader, core::Clock::now());
    } else if (leader && later.at.size() < kMost) {
      later.at.push_back(at);
    }
  }
  for (const Address at : wanted.entries) {
    if (!is_exceeded()) {
      process.probed->await(at, core::Clock::now());
    } else if (later.entries.size() < kMost) {
      later.entries.push_back(at);
    }
  }
}

void ProbeCounter::send_counts(const TracedProcess& process, core::ThreadId thread) {
  core::CodeProbed probed = process.probed->take();
  if (!probed.blocks.empty() || !probed.edges.empty()) {
    outbox_.deliver({process.probed->owner(), thread, core::Clock::now(), std::move(probed)});
  }
}

void ProbeCounter::restore(TracedProcess& process) {
  if (process.probed != nullptr) {
    process.probed->restore_all();
  }
}

bool ProbeCounter::on_retired_trap(Tracee& tracee) {
  const pid_t tid = tracee.id.tid;
  const auto registers = ptrace::registers(tid);
  const auto info = ptrace::signal_info(tid);
  if (!registers || !info || info->si_code <= 0) {
    return false;
  }
  return turn_back(*tracee.process->probed, tid, *registers, info->si_code) ||
         Native::is_step_code(info->si_code);  // the end of a step of ours
}

bool ProbeCounter::make_detachable(Tracee& tracee, bool may_call) {
  if (tracee.process->probed == nullptr) {
    return true;
  }
  on_other_stop(tracee);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (registers && trap_is_pending(tracee, Native::pc(*registers))) {
    return false;
  }
  ProbedCode& code = *tracee.process->probed;
  if (may_call) {
    remove_copies(code, tracee);
    remove_rescue(code, tracee.id.tid);
  }
  const auto mask = ptrace::signal_mask(tracee.id.tid);
  const auto unblocked = std::exchange(tracee.probed.unblocked_mask, std::nullopt);
  if (unblocked && mask && *mask == *unblocked) {
    (void)ptrace::set_signal_mask(tracee.id.tid, *mask | signal_bit(SIGTRAP));
  }
  return true;
}

/// An interrupt is reported before a trap that the thread has run into already, be it a breakpoint
/// or the end of a step.
bool ProbeCounter::trap_is_pending(const Tracee& tracee, Address pc) const {
  if (!tracee.probed.was_stepped &&
      !tracee.process->probed->was_planted_at(Native::breakpoint_of_trap(pc))) {
    return false;
  }
  const auto masks = read_signal_masks(tracee.id.tid);
  return masks && (masks->thread_pending & signal_bit(SIGTRAP)) != 0;
}

void ProbeCounter::note_totals(const ProbedCode& code) {
  functions_ = std::max(functions_.load(), code.functions_mapped());
  planted_ = std::max(planted_.load(), code.probes());
  derived_ = std::max(derived_.load(), code.derived());
}

core::Probing ProbeCounter::facts() const {
  core::Probing facts;
  facts.functions = functions_;
  facts.planted = planted_;
  facts.derived = derived_;
  facts.removed = removed_;
  facts.hits = hits_;
  facts.windows = windows_;
  facts.steps = steps_;
  facts.cost = core::Duration{cost_.load()};
  return facts;
}

}  // namespace sp::supervisor
