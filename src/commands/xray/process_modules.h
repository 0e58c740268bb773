#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/mapping.h"
#include "core/module.h"
#include "core/result.h"
#include "supervisor/linux/target_memory.h"

namespace sp::xray {

/// A process that is only looked at: its memory and the files that it has mapped as code.
struct ProcessModules {
  supervisor::TargetMemory memory;
  std::vector<core::Module> modules;  // ELF files, by address; ids count from 1; base: load bias
};

/// Stops and attaches to nothing. Errors say why the process cannot be read, and the fix.
[[nodiscard]] core::Result<ProcessModules> read_process(pid_t pid);

}  // namespace sp::xray
