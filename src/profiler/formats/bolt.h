#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "profiler/recorded_run.h"

namespace sp::profiler {

/// The code of a file as BOLT divides it.
struct BoltCode {
  struct Function {
    std::string name;  // as BOLT has it
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool local = false;
  };
  /// A block that control may come to from the instruction before it.
  struct Leader {
    std::uint64_t address = 0;
    std::uint64_t before = 0;  // that instruction; nops count for nothing
    bool behind_call = false;  // it is a call
  };
  std::vector<Function> functions;  // by address, not overlapping
  std::vector<Leader> leaders;      // by address
};

struct BoltSums {
  std::uint64_t branches = 0;   // lines
  std::uint64_t functions = 0;  // with at least one branch
  std::uint64_t left_out = 0;   // functions with edges that were not counted to the end
};

/// BOLT's profile (.fdata) of one module, the number of which in `counts` is `module`: a line for
/// each branch, call and fall-through,
///
///     1 main 1fb 1 compress 0 0 1200
///     2 parse/main.c/1 12 2 parse/main.c/1 1d 0 44
///
/// that is kind (0: another file or unknown, 1: global, 2: local symbol), name and offset of where
/// it comes from and goes to, mispredictions (not known, so 0), and how often.
BoltSums write_bolt(std::ostream& out, const RecordedCode& counts, std::uint32_t module,
                    const BoltCode& code);

}  // namespace sp::profiler
