#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "analyzer/stack_source.h"
#include "analyzer/wait_ledger.h"
#include "core/channel.h"
#include "core/messages.h"

namespace sp::analyzer {

/// The second stage. Runs on the analyzer thread. Owns the stack source and what is known of
/// waits. In: StopEvents. Out: Records for the profiler, Requests back to the supervisor.
class Analyzer {
 public:
  /// `request_sent` is called after something was put into `requests`: it wakes the supervisor.
  Analyzer(std::unique_ptr<StackSource> stacks, core::Channel<core::StopEvent>& events,
           core::Channel<core::Record>& records, core::Channel<core::Request>& requests,
           std::function<void()> request_sent);

  /// Until the event channel is finished; then closes the record channel.
  void run();

  /// One event; for tests, which feed hand-made ones.
  void handle(core::StopEvent event);

 private:
  void on(const core::StopEvent& event, core::Sampled& sampled);
  void on(const core::StopEvent& event, core::Waited& waited);
  void on(const core::StopEvent& event, core::CodeCounted& counted);
  void emit_waits(const core::StopEvent& event, const WaitLedger::Entry& entry);
  [[nodiscard]] core::Stack resolve(const core::StopEvent& event, const core::RawStack& raw);
  void emit_new_modules();
  void request(core::Request request);

  std::unique_ptr<StackSource> stacks_;
  core::Channel<core::StopEvent>& events_;
  core::Channel<core::Record>& records_;
  core::Channel<core::Request>& requests_;
  std::function<void()> request_sent_;
  WaitLedger waits_;
};

}  // namespace sp::analyzer
