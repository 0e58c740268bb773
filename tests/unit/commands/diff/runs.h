#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands/diff/run_numbers.h"

namespace sp::diff::test {

/// A run of /bin/demo whose samples stand for 1 ms each.
inline RunNumbers sampled_run(std::vector<std::pair<std::string, std::uint64_t>> self) {
  RunNumbers run;
  run.directory = "output/demo";
  run.run.command = "/bin/demo";
  run.run.program = "/bin/demo";
  for (const auto& [name, samples] : self) {
    run.functions[{"demo", name}] = {samples, samples, {}, {}, {}};
    run.run.samples += samples;
  }
  run.run.on_cpu = run.run.samples;
  run.run.with_stack = run.run.samples;
  run.run.cpu_ns = run.run.samples * 1'000'000;
  return run;
}

/// One that counted all: function, calls, instructions.
struct Counted {
  std::string name;
  std::uint64_t calls;
  std::uint64_t instructions;
  std::string kind = "exact";
};
inline RunNumbers counted_run(const std::vector<Counted>& functions) {
  RunNumbers run;
  run.directory = "output/counted";
  run.run.command = "/bin/demo";
  run.run.program = "/bin/demo";
  run.run.counts_kind = "exact";
  run.run.counts_all = true;
  run.counted_modules = {"demo"};
  for (const auto& [name, calls, instructions, kind] : functions) {
    run.functions[{"demo", name}] = {0, 0, Count{calls, kind}, Count{calls, kind},
                                     Count{instructions, kind}};
  }
  return run;
}

}  // namespace sp::diff::test
