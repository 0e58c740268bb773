#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace sp::profiler {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
};

/// Posts the body over HTTP or, with the server's certificate verified, HTTPS. Returns the status,
/// 200 or any other. Follows no redirect. Gives up after `limit`, and within 0.1 s once `is_over`.
/// Errors: the server cannot be reached, or libcurl is not installed. Any thread, one at a time.
[[nodiscard]] core::Result<long> http_post(const HttpRequest& request, core::Duration limit,
                                           const std::function<bool()>& is_over);

/// Why nothing can be posted on this machine; nothing if it can.
[[nodiscard]] core::Result<void> check_http();

}  // namespace sp::profiler
