#pragma once

#include <string_view>
#include <vector>

#include "core/call_query.h"
#include "core/result.h"

/// What `count` asks of calls, as the user writes it. Errors are usage errors.
namespace sp::cli {

/// "d", "u", "x", "p", "c", "f", "s".
[[nodiscard]] core::Result<core::ValueType> read_value_type(std::string_view option,
                                                            std::string_view text);
/// "arg1:s,arg2:d"; without a type d.
[[nodiscard]] core::Result<std::vector<core::CallValue>> read_call_values(std::string_view text);
/// "arg1>4096", "ret==-1 && arg2:u&0x40".
[[nodiscard]] core::Result<std::vector<core::CallCondition>> read_call_conditions(
    std::string_view text);

}  // namespace sp::cli
