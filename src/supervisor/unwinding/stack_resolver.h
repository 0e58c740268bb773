#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/stack.h"
#include "supervisor/unwinding/address_space.h"
#include "supervisor/unwinding/walked_frame.h"

namespace sp::supervisor {

struct StackResolverOptions {
  std::size_t max_frames = 1024;
  RefreshOptions refresh;
  std::function<core::TimePoint()> now = core::Clock::now;
};

/// Unwinds what stops have copied, while the targets run again. Owned by the analyzer's thread and
/// runs there. Of a target it reads only the memory map, and files and memory of code when it first
/// sees them. In: raw stacks and the supervisor's snapshots of memory maps. Out: stacks, and the
/// modules of their frames.
class StackResolver {
 public:
  explicit StackResolver(StackResolverOptions options);
  StackResolver(StackResolver&&) noexcept;
  StackResolver& operator=(StackResolver&&) noexcept;
  ~StackResolver();

  /// A forked child starts with its parent's code. An exec'ed program, under a new serial, starts
  /// with none: pass no parent.
  void process_started(core::ProcessId process, core::ProcessId parent = {});
  void process_ended(core::ProcessId process);
  /// `tid` is the thread through which they were read.
  void set_maps(core::ProcessId process, pid_t tid, std::vector<core::Mapping> maps,
                bool is_followed = false);

  /// `tid` is a thread of the process, the sampled one if it is alive. Never fails: a stack whose
  /// pc is in no known code has one frame, in a module of kind unknown.
  [[nodiscard]] core::Stack resolve(core::ProcessId process, pid_t tid, const core::RawStack& raw);
  /// The same in the process's addresses, innermost first; empty if the stack was not walked to its
  /// outermost frame.
  [[nodiscard]] std::vector<WalkedFrame> walk(core::ProcessId process, pid_t tid,
                                              const core::RawStack& raw);

  /// The module and offset of an address, by the process's last maps; reads none.
  [[nodiscard]] core::ModuleOffset locate(core::ProcessId process, core::Address address);

  /// The address of a module offset in the process, by its last maps; nothing if it has none.
  [[nodiscard]] std::optional<core::Address> address_of(core::ProcessId process,
                                                        core::ModuleOffset where);

  /// New modules since the last call. Those of a stack are among them once resolve() has returned
  /// it.
  [[nodiscard]] std::vector<core::Module> take_new_modules();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::supervisor
