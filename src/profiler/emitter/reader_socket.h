#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/fd.h"
#include "profiler/emitter/emit_options.h"

namespace sp::profiler {

/// The connection to the reader of --emit. Nothing here blocks. On the profiler thread.
class ReaderSocket {
 public:
  explicit ReaderSocket(const EmitOptions& options);

  [[nodiscard]] bool is_connected() const { return fd_.valid(); }
  /// No reader comes any more: the descriptor that was given is closed.
  [[nodiscard]] bool is_over() const { return !is_connected() && path_.empty(); }
  /// Connects if that is due: again after 1, 2, 4 .. 60 s. True if a reader is there now.
  bool connect(core::TimePoint now);
  /// The next connect() is due.
  void retry_now() { retry_at_ = {}; }

  /// Appends to what is to be sent.
  void put(std::string_view text);
  /// Sends what the socket takes, and reads what the reader has sent. False: the connection broke;
  /// what was put is dropped.
  [[nodiscard]] bool step(core::TimePoint now);
  /// All of it is sent.
  [[nodiscard]] bool is_sent() const { return sent_ == out_.size(); }
  /// All of it is sent, and the reader has taken it.
  [[nodiscard]] bool is_taken() const;
  /// How many bytes the reader has sent since the last call.
  [[nodiscard]] std::uint64_t take_pulls();
  /// Until something can be done, or for so long.
  void wait(core::Duration time) const;

 private:
  [[nodiscard]] bool send_more();
  [[nodiscard]] bool receive();
  [[nodiscard]] bool is_closed() const;
  void break_off(core::TimePoint now);

  const std::string path_;
  core::UniqueFd fd_;
  core::TimePoint retry_at_{};
  core::Duration pause_;
  std::string out_;
  std::size_t sent_ = 0;
  std::uint64_t pulls_ = 0;
  bool reader_sends_ = true;
};

}  // namespace sp::profiler
