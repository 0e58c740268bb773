#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/crash.h"
#include "core/module.h"
#include "profiler/namer.h"
#include "symbols/source_line.h"

namespace sp::profiler {

/// One function activation, or one function that was inlined into the next.
struct CrashCall {
  std::string function;
  std::optional<std::uint64_t> offset;  // from the function's first byte; nothing without a symbol
  std::string module;                   // path, or "[vdso]", "[jit]", "[unknown]"
  core::ModuleOffset where;             // ELF virtual address; a return address but innermost
  core::ModuleOffset start;             // of the function's code
  bool is_return_address = false;
  std::optional<core::Address> address;  // of `where` in the process
  std::optional<symbols::SourceLine> source;
  bool inlined = false;
};

struct CrashThread {
  int tid = 0;
  std::string name;
  std::string syscall;  // that it slept in; "" if it did not sleep
  core::StackEnd end = core::StackEnd::root;
  std::vector<CrashCall> calls;  // innermost first
};

struct CrashModule {
  std::string path;
  std::string build_id;
  std::optional<std::uint64_t> base;  // of ELF address 0 in the process
};

/// A process that dies of a signal, with names.
struct NamedCrash {
  int pid = 0;
  std::string command;
  core::TimePoint time;
  core::CrashSignal signal;
  std::vector<core::NamedRegister> registers;
  std::vector<CrashThread> threads;  // the one that got the signal is the first
  std::uint64_t unread_threads = 0;
  std::vector<CrashModule> modules;  // of the stacks
};

[[nodiscard]] NamedCrash name_crash(const core::CrashSeen& seen,
                                    const std::vector<core::Module>& modules, Namer& namer);

}  // namespace sp::profiler
