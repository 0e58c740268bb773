#pragma once

#include <signal.h>

#include "core/crash.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler::test {

/// Two threads; the first is in a function that was inlined into leaf().
inline core::CrashSeen crash() {
  core::CrashSeen seen{.process = {4711, 1},
                       .time = core::TimePoint(std::chrono::milliseconds(1500)),
                       .signal = {SIGSEGV, 1, 0x10, 0},
                       .registers = {{"rip", 0x555555555010}, {"rsp", 0x7fff00000000}}};
  core::PlacedStack stack{sample({0x1010, 0x2010, 0x3010}).stack, {}};
  for (const core::Frame& frame : stack.stack.frames) {
    stack.addresses.emplace_back(core::Address{0x555555554000 + frame.where.offset});
  }
  seen.threads.push_back({{4711, 1}, "demo", "", stack});
  core::PlacedStack other{sample({0x4010}, core::StackEnd::no_unwind_info).stack, {std::nullopt}};
  seen.threads.push_back({{4713, 3}, "worker", "futex", other});
  seen.unread_threads = 1;
  return seen;
}

inline void crash_names(TableNamer& namer) {
  const auto at = [](std::uint64_t offset) { return core::ModuleOffset{kProgram, offset}; };
  symbols::NamedFrame leaf = named("leaf", "demo.c", 10);
  leaf.start = 0x1000;
  symbols::NamedFrame inlined = named("inline_one", "inline.h", 3, true);
  inlined.start = 0x1000;
  namer.set(at(0x1010), {inlined, leaf});
  symbols::NamedFrame middle = named("middle", "demo.c", 20);
  middle.start = 0x2000;
  namer.set(at(0x2010), {middle});
}

}  // namespace sp::profiler::test
