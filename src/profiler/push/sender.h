#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/clock.h"
#include "core/result.h"
#include "profiler/push/http_post.h"

namespace sp::profiler {

/// Posts one request at a time on a thread of its own. The destructor breaks off what is under way.
class Sender {
 public:
  /// Sends a request; gives up once the second argument returns true.
  using Post =
      std::function<core::Result<long>(const HttpRequest&, const std::function<bool()>& is_over)>;

  explicit Sender(Post post);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender();

  /// Nothing may be under way.
  void send(HttpRequest request);
  [[nodiscard]] bool is_busy() const;
  /// What became of the request, once.
  [[nodiscard]] std::optional<core::Result<long>> take_answer();
  /// Until there is an answer, or for so long.
  void wait(core::Duration time);

 private:
  void run(const std::stop_token& stop);

  const Post post_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<HttpRequest> request_;
  bool is_busy_ = false;
  std::optional<core::Result<long>> answer_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace sp::profiler
