#pragma once

#include <cstdint>
#include <vector>

#include "commands/diff/run_numbers.h"

namespace sp::diff {

/// One function in all runs.
struct MatchedFunction {
  FunctionKey key;                             // as in the later runs, if they have it
  std::vector<const FunctionNumbers*> before;  // by run; null where the run does not have it
  std::vector<const FunctionNumbers*> after;
};

/// Functions of one name in modules of one file name are the same. What only one side has then is
/// matched by its name alone, where only one function on each side has that name. Points into the
/// runs.
[[nodiscard]] std::vector<MatchedFunction> match(const std::vector<RunNumbers>& before,
                                                 const std::vector<RunNumbers>& after);

}  // namespace sp::diff
