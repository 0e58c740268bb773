#include "core/check.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "core/log.h"

namespace sp::core {
namespace {

constexpr int kStatus = 125;

/// Does not allocate: there may be no memory.
[[noreturn]] void end_with(const char* what, const char* fix) {
  std::array<char, 256> line{};
  const int size =
      std::snprintf(line.data(), line.size(),
                    "superprofiler: cannot go on: %s%s; the target is let go\n", what, fix);
  const std::size_t length = std::min(line.size() - 1, static_cast<std::size_t>(size));
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), length);
  ::_exit(kStatus);
}

[[noreturn]] void end_by_line() {
  try {
    if (const std::exception_ptr current = std::current_exception()) {
      std::rethrow_exception(current);
    }
  } catch (const std::bad_alloc&) {
    end_with("no memory is left", " (ulimit -v, or the container's limit)");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      end_with("no thread can be started", " (ulimit -u, or the container's limit of processes)");
    }
    end_with(error.what(), "");
  } catch (const std::exception& error) {
    end_with(error.what(), "");
  } catch (...) {
    end_with("an unknown error", "");
  }
  end_with("an internal error", "");
}

}  // namespace

void check_failed(std::string_view condition, std::string_view file, int line) {
  log_error("internal error: {} does not hold ({}:{}); letting the target go", condition, file,
            line);
  ::_exit(kStatus);
}

void end_by_line_where_uncaught() { std::set_terminate(end_by_line); }

}  // namespace sp::core
