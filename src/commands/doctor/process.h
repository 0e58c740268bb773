#pragma once

#include <sys/types.h>

#include <vector>

#include "commands/doctor/doctor.h"
#include "supervisor/startup/attach_facts.h"

namespace sp::doctor {

/// Facts about the process of `doctor -p`.
struct ProcessFacts {
  supervisor::AttachFacts attach;  // with the errno of an attempt to attach
  bool readable = false;           // its program's file
  bool has_symbols = false;        // .symtab
  bool has_debug_info = false;     // .debug_info or .gnu_debugdata
};

/// Attaches briefly, without stopping the process.
[[nodiscard]] ProcessFacts look_at_process(pid_t pid);
[[nodiscard]] std::vector<Finding> judge(const ProcessFacts& facts);

}  // namespace sp::doctor
