#include "core/check.h"

#include <unistd.h>

#include <atomic>

#include "core/log.h"

namespace sp::core {
namespace {
std::atomic<CheckHook> g_hook{nullptr};
}

void set_check_hook(CheckHook hook) { g_hook = hook; }

void check_failed(std::string_view condition, std::string_view file, int line) {
  // Taken out first: a check that fails inside the hook must not enter it again.
  const CheckHook hook = g_hook.exchange(nullptr);
  log_error("internal error: {} does not hold ({}:{}); letting the target go", condition, file,
            line);
  if (hook != nullptr) {
    hook();
  }
  ::_exit(125);
}

}  // namespace sp::core
