#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace sp::cli {

/// Splits like a POSIX shell (Shell Command Language 2.2, Quoting), without any expansion: blanks,
/// tabs and newlines separate words, '...' and "..." quote, \ quotes one character. Returns at
/// least one word; error messages have the fact and the fix.
[[nodiscard]] core::Result<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace sp::cli
