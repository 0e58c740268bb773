#include <utility>

#include "analyzer/analyzer.h"

namespace sp::analyzer {

void Analyzer::on(const core::StopEvent& event, core::Crashed& crashed) {
  core::CrashSeen seen{.process = event.process,
                       .time = event.time,
                       .signal = crashed.signal,
                       .registers = std::move(crashed.registers),
                       .unread_threads = crashed.unread_threads};
  for (core::ThreadAtCrash<core::RawStack>& thread : crashed.threads) {
    core::PlacedStack placed;
    // The thread that got the signal is the last to go.
    placed.stack = stacks_->resolve(event.process, event.thread, thread.stack);
    for (const core::Frame& frame : placed.stack.frames) {
      placed.addresses.push_back(stacks_->address_of(event.process, frame.where));
    }
    seen.threads.push_back(
        {thread.id, std::move(thread.name), std::move(thread.syscall), std::move(placed)});
  }
  emit_new_modules();
  records_.push(std::move(seen));
}

}  // namespace sp::analyzer
