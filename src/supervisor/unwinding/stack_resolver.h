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

namespace sp::supervisor {

struct StackResolverOptions {
  std::size_t max_frames = 1024;
  RefreshOptions refresh;
  std::function<core::TimePoint()> now = core::Clock::now;
};

/// Makes stacks out of what stops have copied, after the targets run again. Runs on the analyzer's
/// thread, which owns it; it takes nothing from a target but its memory map, and files and memory
/// of code when it first meets them. What comes in: raw stacks and the supervisor's snapshots of
/// memory maps. What goes out: stacks, and the modules that their frames lie in.
class StackResolver {
 public:
  explicit StackResolver(StackResolverOptions options);
  StackResolver(StackResolver&&) noexcept;
  StackResolver& operator=(StackResolver&&) noexcept;
  ~StackResolver();

  /// A forked child begins with its parent's code; a program that was exec'ed, under a new serial,
  /// begins with none: pass no parent.
  void process_started(core::ProcessId process, core::ProcessId parent = {});
  void process_ended(core::ProcessId process);
  /// `tid` is the thread that they were read through.
  void set_maps(core::ProcessId process, pid_t tid, std::vector<core::Mapping> maps);

  /// `tid` is a thread of the process, the sampled one if it still lives. Never fails: a stack
  /// whose pc is in no known code has one frame, in a module of kind unknown.
  [[nodiscard]] core::Stack resolve(core::ProcessId process, pid_t tid, const core::RawStack& raw);

  /// The module and offset of an address as the process's last maps have it; it reads none itself.
  [[nodiscard]] core::ModuleOffset locate(core::ProcessId process, core::Address address);

  /// Where that lies in the process, by its last maps; nothing where it does not.
  [[nodiscard]] std::optional<core::Address> address_of(core::ProcessId process,
                                                        core::ModuleOffset where);

  /// Modules met since the last call; a stack's modules are among them at the latest after the
  /// resolve() that returned it.
  [[nodiscard]] std::vector<core::Module> take_new_modules();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::supervisor
