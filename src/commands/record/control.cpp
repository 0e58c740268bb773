#include "commands/record/control.h"

#include <utility>

namespace sp::record {

core::Result<std::optional<session::ListeningSocket>> Control::listen(
    const cli::RecordOptions& options) {
  if (options.control.path.empty()) {
    return std::nullopt;
  }
  auto socket = session::ListeningSocket::listen_at(options.control.path);
  if (!socket) {
    return core::fail("--control: " + socket.error().doing, socket.error().code);
  }
  return std::optional(std::move(*socket));
}

void Control::start(ControlCommands::Run run) {
  if (server_) {
    commands_.emplace(std::move(run));
    server_->start([this](std::string_view line) { return commands_->begin(line); });
  }
}

}  // namespace sp::record
