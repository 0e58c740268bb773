#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "commands/session/unix_socket.h"
#include "core/fd.h"

namespace sp::record {

/// Serves the socket of --control on a thread of its own: a line in, a line out, for each client in
/// the order of its lines. Clients that are slow, die or send nonsense hold up nobody: of each at
/// most kLongestLine bytes are read that were not served, and while it does not read its answers
/// no more of its lines.
class ControlServer {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 10U;

  /// The answer, a line without its end; nothing: not yet.
  using Answer = std::function<std::optional<std::string>()>;
  /// Begins what a line asks for. On the server's thread, as the answers.
  using Begin = std::function<Answer(std::string_view line)>;

  explicit ControlServer(session::ListeningSocket socket) : socket_(std::move(socket)) {}
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer() { stop(); }

  void start(Begin begin);
  /// Answers what is left, and removes the socket.
  void stop();

 private:
  struct Client {
    core::UniqueFd fd;
    std::string in;
    std::string out;
    Answer pending;           // null: no line is being served
    bool skips_line = false;  // it was too long
    bool has_ended = false;   // sends nothing any more
    bool is_gone = false;
  };

  void run();
  void wait();
  void accept_clients();
  void receive(Client& client) const;
  /// Serves lines until one has no answer yet, or the client does not read.
  void serve(Client& client) const;
  [[nodiscard]] std::optional<std::string> take_line(Client& client) const;
  static void send(Client& client);
  void end_clients();
  [[nodiscard]] bool is_to_end() const { return ends_; }

  session::ListeningSocket socket_;
  Begin begin_;
  core::UniqueFd wake_;  // an eventfd
  std::atomic<bool> ends_{false};
  std::list<Client> clients_;
  bool cannot_accept_ = false;  // no descriptor is free, or no memory
  std::jthread thread_;         // last: it uses the others
};

}  // namespace sp::record
