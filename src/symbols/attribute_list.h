#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "symbols/filter_rule.h"

namespace sp::symbols {

/// Adds the rules of XRay's attribute list (clang's -fxray-attr-list): comments with #, sections
/// [always] and [never], lines fun:GLOB (linkage names), src:GLOB (source files) and, in [always],
/// fun:GLOB=arg1. They are allow and block rules, named "attr-list:LINE". `path` is for messages.
/// Errors begin with PATH:LINE:COLUMN.
[[nodiscard]] core::Result<void> read_attribute_list(const std::string& path, std::string_view text,
                                                     FilterRules& rules);

}  // namespace sp::symbols
