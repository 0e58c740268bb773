#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/ids.h"

namespace sp::analyzer {

/// One frame of a sampled stack, as far as planting cares.
struct PolicyFrame {
  core::Address address;  // the pc, or a return address
  /// The function that holds it, or that it was called from; the address itself where none is
  /// known.
  core::ModuleOffset function;
  bool is_instrumentable = false;  // in a module that may be given probes
};

/// Decides for which functions of sampled stacks probes are asked for: the innermost one's at once,
/// and those of frames that are at least --func-instrumentation-depth deep, to which control will
/// come back and whose entries are called seldom enough. Those between would be called so often
/// that a breakpoint costs more than it tells. Pure; bounded: when it is full it begins anew, and
/// asks for something twice.
class InstrumentationPolicy {
 public:
  explicit InstrumentationPolicy(std::size_t depth,
                                 std::size_t most_remembered = std::size_t{1} << 16U)
      : depth_(depth), most_remembered_(most_remembered) {}

  /// `frames` innermost first. The addresses whose functions are to be given probes; each function
  /// of a process is asked for once.
  [[nodiscard]] std::vector<core::Address> choose(core::ProcessId process,
                                                  std::span<const PolicyFrame> frames);
  /// The process has begun another program, or has ended.
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
