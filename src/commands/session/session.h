#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "analyzer/instrumentation_policy.h"
#include "core/channel.h"
#include "core/messages.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/supervisor.h"

namespace sp::session {

/// How much may be queued between the stages. A sample takes 16 to 64 KiB, and up to a megabyte
/// with deep stacks; opening a large debug file, for which records wait, takes seconds.
struct QueueSizes {
  std::size_t events = 1024;
  std::size_t records = 16384;
  std::size_t requests = 256;
};

struct SessionOptions {
  supervisor::SupervisorOptions supervisor;
  /// What samples ask probes for; nothing: for nothing.
  std::optional<analyzer::InstrumentationPolicy> policy;
  QueueSizes queues;
};

/// Connects the stages of one run: the supervisor on the calling thread, which must be the main
/// thread, the analyzer and the timer on threads of their own, and a consumer of records on
/// another.
///
///   supervisor().prepare()
///   start(..)     the threads
///   run()         until the target has ended or is to be let go
///   serve(..)     while the consumer finishes
class Session {
 public:
  Session(SessionOptions options, supervisor::Guardian& guardian);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] supervisor::Supervisor& supervisor() { return supervisor_; }
  [[nodiscard]] const supervisor::Supervisor& supervisor() const { return supervisor_; }
  [[nodiscard]] core::Channel<core::Record>& records() { return records_; }

  /// Starts the threads; `consume` runs on one that is called `name`, and reads records() until
  /// they are finished.
  void start(const char* name, std::function<void()> consume);
  void run();
  /// Serves the target until the consumer has returned, or `gives_up`. False if it has not
  /// returned: then only _exit() is left.
  [[nodiscard]] bool serve(const std::function<bool()>& gives_up);
  /// Ends the run as --duration does. Any thread.
  void end();
  /// Asks the supervisor, as the analyzer does. Any thread.
  void request(core::Request request);

 private:
  void analyze(std::promise<pid_t>& tid);

  core::Channel<core::StopEvent> events_;
  core::Channel<core::Record> records_;
  core::Channel<core::Request> requests_;
  std::optional<analyzer::InstrumentationPolicy> policy_;
  supervisor::Supervisor supervisor_;
  std::atomic<bool> consumed_{false};
  // Last: they use the others.
  std::jthread consumer_;
  std::jthread analyzer_;
  std::jthread timer_;
};

/// Does `work`, which takes long, on the calling thread, which was started for it and is called
/// sp-symbols: away from the target's CPU, and after the target where they have one CPU.
void run_beside(const std::function<void()>& work);

/// What every command that traces does first: takes the control signals, raises the limit of open
/// files, starts the guardian. Reports errors to the user.
[[nodiscard]] std::optional<supervisor::Guardian> begin_tracing();

}  // namespace sp::session
