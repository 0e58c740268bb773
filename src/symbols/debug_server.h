#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace sp::symbols {

/// The debuginfod servers that the environment names (DEBUGINFOD_URLS): debug files by build-id.
/// libdebuginfod downloads and keeps them in its cache. For one thread. The first failure is told
/// in one note, and nothing is asked after it; a file that no server has is no failure.
class DebugServer {
 public:
  struct Options {
    /// How often the user has asked for an end; a download ends when that becomes more. Without it
    /// the SIGINT of a process that has no handler for it ends the download, and not the process.
    std::function<int()> interrupts;
  };

  explicit DebugServer(Options options);
  DebugServer(const DebugServer&) = delete;
  DebugServer& operator=(const DebugServer&) = delete;
  ~DebugServer();

  /// True if DEBUGINFOD_URLS is set: else nothing is ever asked.
  [[nodiscard]] static bool is_wanted();
  /// DEBUGINFOD_URLS.
  [[nodiscard]] static std::string urls();
  /// False if libdebuginfod.so.1 is not installed, or this program was built without its header.
  [[nodiscard]] static bool is_usable();
  /// Null if none is wanted.
  [[nodiscard]] static std::shared_ptr<DebugServer> of_environment(Options options = {});

  /// The downloaded file; nothing if there is none. `whose` is what the user is told.
  [[nodiscard]] std::optional<std::string> find(const std::string& build_id,
                                                const std::string& whose);

 private:
  class Download;

  void give_up(const std::string& why);

  Options options_;
  void* client_ = nullptr;
  bool given_up_ = false;
};

}  // namespace sp::symbols
