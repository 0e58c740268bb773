#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "commands/record/control_server.h"
#include "core/place_choice.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "core/trace_request.h"
#include "supervisor/channels/trace_requests.h"

namespace sp::record {

/// What the commands of --control do. On the server's thread, but for note_written().
class ControlCommands {
 public:
  struct Run {
    const cli::RecordOptions& options;
    supervisor::TraceRequests& requests;
    std::function<core::RunFacts()> facts;   // as of now
    std::function<std::string()> directory;  // the run's, or its part's; absolute
    /// StaticAnalysis::patch()
    std::function<core::Result<std::vector<std::uint64_t>>(std::span<const core::XrayIds>, bool)>
        patch;
  };
  explicit ControlCommands(Run run);

  /// For ControlServer::start().
  [[nodiscard]] ControlServer::Answer begin(std::string_view line);
  /// The profiler has done its part of a request; so many events that it had are gone. Any thread.
  void note_written(const core::TraceRequest& request, std::uint64_t cleared);

 private:
  [[nodiscard]] ControlServer::Answer ask(core::TraceAction action,
                                          std::vector<std::uint64_t> functions = {});
  [[nodiscard]] ControlServer::Answer patch(core::TraceAction action, std::string_view ids);
  [[nodiscard]] std::string status() const;
  [[nodiscard]] std::string config() const;
  [[nodiscard]] std::string files() const;
  [[nodiscard]] std::string prune(std::string_view age) const;
  [[nodiscard]] std::string state() const;

  Run run_;
  std::string parent_;  // of the run's directory
  std::uint64_t ticket_ = 0;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> cleared_{0};  // events that RunFacts has among those that are there
};

}  // namespace sp::record
