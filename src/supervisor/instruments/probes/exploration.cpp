#include "supervisor/instruments/probes/exploration.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "arch/native.h"
#include "core/messages.h"
#include "supervisor/instruments/probes/probed_thread.h"

namespace sp::supervisor {

using arch::Native;
using core::Address;
namespace {

/// What was executed there may have been a jump of ours.
bool has_copy_at(ProbedCode& code, Address pc) {
  const ProbedFunction* const function = code.functions().at(pc);
  return function != nullptr && function->state == ProbedFunction::State::copied;
}

}  // namespace

void Exploration::begin(Tracee& tracee, Address pc) {
  ProbedThread& thread = probed_thread(tracee);
  ++windows_;
  probed_code(*tracee.process).note_exploration(pc);
  thread.window.emplace();
  if (!note_step(tracee, pc)) {
    thread.window.reset();
  } else if (tracee.slot != nullptr) {
    tracee.slot->stepped = true;
  }
}

bool Exploration::note_step(Tracee& tracee, Address pc) {
  constexpr std::size_t kLongest = 64;
  core::Stepped& window = *probed_thread(tracee).window;
  ProbedCode& code = probed_code(*tracee.process);
  if (!window.path.empty() && has_copy_at(code, window.path.back().pc)) {
    end(tracee);
    (void)ptrace::resume(tracee.id.tid, 0);
    return false;
  }
  core::Stepped::At at{pc, 0, {}};
  at.size = static_cast<std::uint8_t>(code.fetch(pc, at.code));
  const auto instruction = Native::decode(std::span(at.code).first(at.size), pc);
  const bool is_first = window.path.empty();
  window.path.push_back(at);
  const bool goes_on = instruction && window.path.size() < kLongest &&
                       instruction->flow != core::Flow::syscall &&
                       instruction->flow != core::Flow::stop && code.is_in_function(pc);
  if (!goes_on && !is_first) {
    end(tracee);
    (void)ptrace::resume(tracee.id.tid, 0);
  }
  return goes_on;
}

void Exploration::hide_step(const Tracee& tracee, ptrace::Registers& registers) {
  std::array<std::byte, kLongestCode> code{};
  const core::Stepped::At& done = probed_thread(tracee).window->path.back();
  std::copy(done.code.begin(), done.code.end(), code.begin());
  ThreadMemory memory(tracee.id.tid);
  if (Native::hide_step(std::span(code).first(done.size), registers, memory)) {
    (void)ptrace::set_registers(tracee.id.tid, registers);
  }
}

void Exploration::end(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  core::Stepped window = std::move(*thread.window);
  thread.window.reset();
  if (tracee.slot != nullptr) {
    tracee.slot->stepped = false;
  }
  if (window.path.size() > 1) {
    steps_ += window.path.size() - 1;
    outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(), std::move(window)});
  }
}

}  // namespace sp::supervisor
