#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "commands/diff/comparison.h"
#include "core/result.h"

namespace sp::diff {

struct Judgement {
  std::vector<std::string> broken;  // a line each: the rule, and what breaks it
  std::vector<std::string> notes;   // rules for functions that the runs do not have
};

/// Error: a /regex/ that is none.
[[nodiscard]] core::Result<void> check_rules(const std::vector<cli::DiffRule>& rules);

/// A rule is broken by a difference that is not by chance and beyond its limit, and by one that
/// cannot be told. A run differs in nothing from itself.
[[nodiscard]] Judgement judge(const Comparison& comparison,
                              const std::vector<cli::DiffRule>& rules);

}  // namespace sp::diff
