#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "analyzer/decoder_cross_check.h"
#include "analyzer/instrumentation_policy.h"
#include "analyzer/off_cpu_time.h"
#include "analyzer/stack_source.h"
#include "core/channel.h"
#include "core/messages.h"

namespace sp::analyzer {

/// The second stage. Runs on the analyzer thread. Owns the stack source and the off-CPU time of
/// blocked threads. In: StopEvents. Out: Records for the profiler, Requests to the supervisor.
class Analyzer {
 public:
  /// With a `policy`, samples request probes. Calls `request_sent` after putting something into
  /// `requests`, to wake the supervisor.
  Analyzer(std::unique_ptr<StackSource> stacks, core::Channel<core::StopEvent>& events,
           core::Channel<core::Record>& records, core::Channel<core::Request>& requests,
           std::function<void()> request_sent, std::optional<InstrumentationPolicy> policy = {});

  /// Handles events until their channel is closed; then closes the record channel.
  void run();

  /// Handles one event; tests call it directly.
  void handle(core::StopEvent event);

 private:
  void on(const core::StopEvent& event, core::Sampled& sampled);
  void on(const core::StopEvent& event, core::OffCpuSample& waited);
  void on(const core::StopEvent& event, core::CodeCounted& counted);
  void on(const core::StopEvent& event, core::CodeProbed& probed);
  void on(const core::StopEvent& event, core::FunctionsTraced& traced);
  void on(const core::StopEvent& event, core::CallsCounted& counted);
  void on(const core::StopEvent& event, core::Stepped& stepped);
  void on(const core::StopEvent& event, core::Crashed& crashed);
  void emit_waits(const core::StopEvent& event, const OffCpuTime::Entry& entry);
  [[nodiscard]] core::Stack resolve(const core::StopEvent& event, const core::RawStack& raw);
  void report(const Mismatch& mismatch);
  void emit_new_modules();
  void ask_for_probes(const core::StopEvent& event, const core::Stack& stack);
  void request(core::Request request);

  std::unique_ptr<StackSource> stacks_;
  core::Channel<core::StopEvent>& events_;
  core::Channel<core::Record>& records_;
  core::Channel<core::Request>& requests_;
  std::function<void()> request_sent_;
  std::optional<InstrumentationPolicy> policy_;
  OffCpuTime waits_;
  std::unordered_map<core::ProcessId, DecoderCrossCheck> cross_checks_;
  int mismatches_told_ = 0;
};

}  // namespace sp::analyzer
