#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/mapping.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// The thread's stack pointer; nothing if it neither stands nor sleeps.
[[nodiscard]] std::optional<core::Address> stack_pointer(pid_t tid, const WorldStop& world);

/// Looks through the stacks of a process, and through those that signal frames on them lead to, for
/// words that could be addresses in instrumented code.
class StackSearch {
 public:
  using Found = std::function<void(core::Address)>;

  StackSearch(ProbedCode& code, std::vector<core::Mapping> maps, Found found)
      : code_(code), maps_(std::move(maps)), found_(std::move(found)) {}

  /// False if that is too much to read.
  bool look_above(core::Address sp);

 private:
  bool look_at_stack(core::Address sp);
  void look_at_words(std::span<const std::uint64_t> words);
  [[nodiscard]] bool is_code(core::Address address) const;

  ProbedCode& code_;
  std::vector<core::Mapping> maps_;
  Found found_;
  std::vector<core::AddressRange> done_;
  std::vector<core::Address> to_do_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sp::supervisor
