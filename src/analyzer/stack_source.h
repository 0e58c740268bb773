#pragma once

#include <optional>
#include <vector>

#include "core/ids.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/stack.h"

namespace sp::analyzer {

/// Turns what stops tell in addresses into modules and offsets. The analyzer may not know the
/// supervisor, so session.cpp hands in the supervisor's recovery behind this. Called on the
/// analyzer thread only.
class StackSource {
 public:
  virtual ~StackSource() = default;

  virtual void process_started(core::ProcessId process, core::ProcessId parent) = 0;
  virtual void process_ended(core::ProcessId process) = 0;
  /// `thread` is the one that they were read through.
  virtual void set_maps(core::ProcessId process, core::ThreadId thread,
                        std::vector<core::Mapping> maps) = 0;
  /// Never fails: at the least it gives the frame of the pc itself.
  [[nodiscard]] virtual core::Stack resolve(core::ProcessId process, core::ThreadId thread,
                                            const core::RawStack& raw) = 0;
  /// What the process's last maps say of an address; the module of addresses that nothing is known
  /// of where they do not hold it.
  [[nodiscard]] virtual core::ModuleOffset locate(core::ProcessId process,
                                                  core::Address address) = 0;
  /// Where an offset of a module lies in the process, by its last maps; nothing where it does not.
  [[nodiscard]] virtual std::optional<core::Address> address_of(core::ProcessId process,
                                                                core::ModuleOffset where) = 0;
  /// Modules that were met since the last call; to be told before what names them.
  [[nodiscard]] virtual std::vector<core::Module> take_new_modules() = 0;
};

}  // namespace sp::analyzer
