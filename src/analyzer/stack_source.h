#pragma once

#include <optional>
#include <vector>

#include "core/ids.h"
#include "core/messages.h"
#include "core/module.h"
#include "core/stack.h"

namespace sp::analyzer {

/// Resolves addresses of a process to modules and offsets. The analyzer may not include the
/// supervisor, so the recording command passes the supervisor's unwinder in behind this interface.
/// Called on the analyzer thread only.
class StackSource {
 public:
  virtual ~StackSource() = default;

  virtual void process_started(core::ProcessId process, core::ProcessId parent) = 0;
  virtual void process_ended(core::ProcessId process) = 0;
  /// `thread` is the thread whose /proc entry they were read from.
  virtual void set_maps(core::ProcessId process, core::ThreadId thread,
                        core::MappingSnapshot mapped) = 0;
  /// Never fails: it returns at least the frame of the pc.
  [[nodiscard]] virtual core::Stack resolve(core::ProcessId process, core::ThreadId thread,
                                            const core::RawStack& raw) = 0;
  /// Resolves an address by the process's last maps; to the module of unknown addresses if they do
  /// not hold it.
  [[nodiscard]] virtual core::ModuleOffset locate(core::ProcessId process,
                                                  core::Address address) = 0;
  /// The inverse: nothing if the module is not mapped in the process.
  [[nodiscard]] virtual std::optional<core::Address> address_of(core::ProcessId process,
                                                                core::ModuleOffset where) = 0;
  /// Modules met since the last call. They must be reported before anything that refers to them.
  [[nodiscard]] virtual std::vector<core::Module> take_new_modules() = 0;
};

}  // namespace sp::analyzer
