#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/cli.h"
#include "commands/record/control_commands.h"
#include "commands/record/control_server.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "core/trace_request.h"
#include "supervisor/channels/trace_requests.h"

namespace sp::record {

/// --control: the socket, its thread, and what its commands do; nothing without the option.
class Control {
 public:
  /// Makes the socket, before anything is done to a target. Error: PATH is in use (code 0).
  [[nodiscard]] static core::Result<std::optional<session::ListeningSocket>> listen(
      const cli::RecordOptions& options);

  explicit Control(std::optional<session::ListeningSocket> socket) {
    if (socket) {
      server_.emplace(std::move(*socket));
    }
  }

  /// Begins to serve clients; who has come before has waited.
  void start(ControlCommands::Run run);
  /// ControlCommands::note_written(). Any thread, after start().
  void note_written(const core::TraceRequest& request, std::uint64_t cleared) {
    if (commands_) {
      commands_->note_written(request, cleared);
    }
  }
  /// Answers what is left and removes the socket.
  void stop() {
    if (server_) {
      server_->stop();
    }
  }

 private:
  std::optional<ControlCommands> commands_;
  std::optional<ControlServer> server_;  // last: its thread uses the others
};

}  // namespace sp::record
