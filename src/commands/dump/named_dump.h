#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "core/module.h"
#include "core/stack.h"
#include "profiler/namer.h"
#include "supervisor/thread_dump.h"
#include "symbols/source_line.h"

namespace sp::dump {

/// One function activation, or one function that was inlined into the next.
struct NamedCall {
  std::string function;
  std::optional<std::uint64_t> offset;  // from the function's first byte; nothing if it has no name
  std::string module;                   // path, or "[vdso]", "[jit]", "[unknown]"
  std::uint64_t module_offset = 0;      // ELF virtual address
  std::optional<symbols::SourceLine> source;
  bool inlined = false;
};

struct NamedThread {
  pid_t tid = 0;
  std::string name;
  char state = '?';
  std::string syscall;  // that it sleeps in; "" if it does not sleep
  bool has_stack = false;
  core::StackEnd end = core::StackEnd::root;
  std::vector<NamedCall> calls;  // innermost first
};

/// All threads of a process at one moment, with names.
struct NamedDump {
  pid_t pid = 0;
  std::string command;
  std::vector<NamedThread> threads;
  std::size_t stopped = 0;  // threads that had to be stopped
  core::Duration stopped_for{};
};

using Stacks = std::unordered_map<core::ThreadId, core::Stack>;
using Modules = std::unordered_map<core::ModuleId, core::Module>;

/// Joins what the supervisor has seen of the threads and what the analyzer made of their stacks.
[[nodiscard]] NamedDump name_dump(supervisor::ThreadDump dump, const Stacks& stacks,
                                  const Modules& modules, profiler::Namer& namer);

}  // namespace sp::dump
