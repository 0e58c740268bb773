#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/messages.h"
#include "core/run_facts.h"
#include "profiler/namer.h"
#include "profiler/profile.h"

namespace sp::profiler::test {

constexpr core::ModuleId kProgram{1};
constexpr core::ModuleId kLibc{2};
constexpr core::ModuleId kJitted{3};

/// Names from a table; other addresses are "?OFFSET".
class TableNamer final : public Namer {
 public:
  void set(core::ModuleOffset where, std::vector<symbols::NamedFrame> frames) {
    table_[where] = std::move(frames);
  }
  void set(core::ModuleOffset where, const std::string& function) {
    symbols::NamedFrame frame;
    frame.function = function;
    frame.has_symbol = true;
    set(where, {frame});
  }

  void add_module(const core::Module& module) override { added.push_back(module.path); }
  const std::vector<symbols::NamedFrame>& name(core::ModuleOffset where,
                                               bool is_return_address) override {
    asked.emplace_back(where, is_return_address);
    std::vector<symbols::NamedFrame>& frames = table_[where];
    if (frames.empty()) {
      symbols::NamedFrame frame;
      frame.function = "?" + std::to_string(where.offset);
      frames.push_back(frame);
    }
    return frames;
  }

  std::vector<std::string> added;
  std::vector<std::pair<core::ModuleOffset, bool>> asked;

 private:
  std::map<core::ModuleOffset, std::vector<symbols::NamedFrame>> table_;
};

inline symbols::NamedFrame named(std::string function, std::string file, std::uint32_t line,
                                 bool inlined = false) {
  symbols::NamedFrame frame;
  frame.function = std::move(function);
  frame.has_symbol = true;
  frame.inlined = inlined;
  frame.source = symbols::SourceLine{std::move(file), line};
  return frame;
}

/// Offsets in the program, innermost first, as in a stack from the unwinder.
inline core::SampleTaken sample(const std::vector<std::uint64_t>& offsets,
                                core::StackEnd end = core::StackEnd::root) {
  core::SampleTaken taken;
  taken.stack.end = end;
  for (const std::uint64_t offset : offsets) {
    taken.stack.frames.push_back({{kProgram, offset}, !taken.stack.frames.empty()});
  }
  return taken;
}

inline core::SampleTaken blocked_sample(const std::vector<std::uint64_t>& offsets,
                                        std::string syscall) {
  core::SampleTaken taken = sample(offsets);
  taken.kind = core::SampleKind::blocked;
  taken.blocked_in = std::move(syscall);
  return taken;
}

inline core::SampleTaken pc_sample(std::uint64_t offset) {
  core::SampleTaken taken = sample({offset});
  taken.with_stack = false;
  return taken;
}

inline core::Module module(core::ModuleId id, core::ModuleKind kind, std::string path) {
  core::Module made;
  made.id = id;
  made.kind = kind;
  made.path = std::move(path);
  made.base = core::Address{0x555555554000};
  made.process = {4711, 1};
  return made;
}

inline void add_modules(Profile& profile) {
  core::Module program = module(kProgram, core::ModuleKind::file, "/usr/bin/demo");
  program.build_id = "00ff10";
  profile.add(core::ModuleSeen{program});
  core::Module libc = module(kLibc, core::ModuleKind::file, "/usr/lib/libc.so.6");
  libc.deleted = true;
  profile.add(core::ModuleSeen{libc});
  profile.add(core::ModuleSeen{module(kJitted, core::ModuleKind::jit, "[jit]")});
}

inline core::RunFacts facts() {
  using namespace std::chrono_literals;
  core::RunFacts facts;
  facts.name = "demo-4711";
  facts.command = {"demo", "--fast", "a \"file\"\n"};
  facts.pid = 4711;
  facts.options = {"superprofiler", "--flame", "--", "demo", "--fast", "a \"file\"\n"};
  facts.started_at = std::chrono::system_clock::time_point(1717156800s + 123ms);
  facts.elapsed = 12345678us;
  facts.end = core::RunEnd::target_exited;
  facts.exit_status = 0;
  facts.host_arch = "x86_64";
  facts.processes = 2;
  facts.threads = 5;
  facts.notes = {"the interval was stretched"};
  facts.cost.stops = 1200;
  facts.cost.stopped = 6ms;
  facts.cost.longest_stop = 85400ns;
  facts.cost.target_cpu = 11s;
  facts.cost.overhead_percent = 0.0545;
  facts.cost.budget_percent = 25;
  facts.cost.requested_interval = 100us;
  facts.cost.mean_interval = 101300ns;
  facts.losses.samples_dropped = 3;
  facts.losses.ticks_while_stop_in_flight = 7;
  facts.losses.blocked_before_stop = 2;
  facts.losses.waited_for_cpu = 3;
  return facts;
}

}  // namespace sp::profiler::test
