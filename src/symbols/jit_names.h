#pragma once

#include <memory>
#include <string>

#include "core/module.h"
#include "symbols/module_names.h"

namespace sp::symbols {

/// The code that the JIT compiler of `module`'s process generates: named by its jitdump, else by
/// its perf map. Call this while the process lives.
[[nodiscard]] std::unique_ptr<ModuleNames> open_jit_code(const core::Module& module,
                                                         const std::string& root);

}  // namespace sp::symbols
