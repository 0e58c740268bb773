#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sp::core {

/// What failed, in words for the user: "opening /proc/7/maps: Permission denied".
struct Error {
  std::string doing;  // "opening /proc/7/maps"
  int code = 0;       // errno of the failed call; 0 if there was none

  /// "doing: strerror(code)", or `doing` alone if code is 0.
  [[nodiscard]] std::string message() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string doing, int code = 0) {
  return tl::unexpected<Error>(Error{std::move(doing), code});
}

/// fail() with the calling thread's errno, read before anything can overwrite it.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string doing);

}  // namespace sp::core
