#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"

namespace sp::profiler {

/// --push: to which server, how often and under which name.
struct PushOptions {
  std::string url;  // http:// or https://, without a query
  core::Duration every = std::chrono::seconds(10);
  std::vector<std::string> labels{};  // "KEY=VALUE"; "name=VALUE" names the program
  std::string token{};                // for Authorization: Bearer; "" for none
};

}  // namespace sp::profiler
