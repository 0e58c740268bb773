#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "symbols/filter_rule.h"

namespace sp::symbols {

/// Adds the rules of a filters file, TOML: tables [[block]] and [[allow]], whose keys are
/// conditions and `rule_name`. A rule without a name is called "block#2", by its place among all
/// block rules. `path` is for messages. Errors begin with PATH:LINE:COLUMN. Spellings of Spoor that
/// mean something else here are said in `notes`.
[[nodiscard]] core::Result<void> read_filters_file(const std::string& path, std::string_view text,
                                                   FilterRules& rules,
                                                   std::vector<std::string>& notes);

}  // namespace sp::symbols
