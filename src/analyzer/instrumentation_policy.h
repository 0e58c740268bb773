#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/ids.h"

namespace sp::analyzer {

/// What the policy needs to know about one frame of a sampled stack.
struct PolicyFrame {
  core::Address address;  // the pc, or a return address
  /// The function that holds the address, or that called it; the address itself if none is known.
  core::ModuleOffset function;
  bool is_instrumentable = false;  // in a module that may be instrumented
};

/// Decides which functions of a sampled stack are instrumented: the innermost one, and those at
/// least
/// --func-instrumentation-depth frames deep, to which control will return and which are called
/// seldom. Functions in between are called so often that a breakpoint would cost too much. Pure.
/// The memory is bounded: once full it is cleared, and a function may be chosen twice.
class InstrumentationPolicy {
 public:
  explicit InstrumentationPolicy(std::size_t depth,
                                 std::size_t most_remembered = std::size_t{1} << 16U)
      : depth_(depth), most_remembered_(most_remembered) {}

  /// Returns the addresses whose functions are to be instrumented, each function of a process once.
  /// `frames` are ordered innermost first.
  [[nodiscard]] std::vector<core::Address> choose(core::ProcessId process,
                                                  std::span<const PolicyFrame> frames);
  /// The process has exec'ed another program, or has ended.
  void forget(core::ProcessId process);

 private:
  struct Asked {
    core::ProcessId process;
    core::ModuleOffset function;
    auto operator<=>(const Asked&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Asked& asked) const;
  };

  std::size_t depth_;
  std::size_t most_remembered_;
  std::unordered_set<Asked, Hash> asked_;
};

}  // namespace sp::analyzer
