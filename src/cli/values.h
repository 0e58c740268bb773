#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/place_choice.h"
#include "core/result.h"

/// Parses the values of options. Error messages are complete: the fact and the fix.
namespace sp::cli {

enum class Unit { microseconds, seconds };

/// "100us", "1.5ms", "2s", "1m", "1h"; a bare number is in `unit`. At most a year.
[[nodiscard]] core::Result<core::Duration> parse_duration(std::string_view option,
                                                          std::string_view text, Unit unit);

/// A decimal number within [least, most].
[[nodiscard]] core::Result<double> parse_number(std::string_view option, std::string_view text,
                                                double least, double most);

/// A process id that the kernel can assign: 1..2^22 (PID_MAX_LIMIT).
[[nodiscard]] core::Result<pid_t> parse_pid(std::string_view text);

/// Splits at commas outside (), <>, [], {} and /regex/: "f(int, int),g" is two names. Text with
/// unbalanced brackets is one name (operator<).
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

/// Fails if a name that `option` gives is an invalid /regex/. Other names may be any text.
[[nodiscard]] core::Result<void> check_function_pattern(std::string_view text,
                                                        std::string_view option = "--only-funcs");

/// XRay ids of functions: "1,3-5,libx.so:7". Errors do not say what the text was for.
[[nodiscard]] core::Result<std::vector<core::XrayIds>> parse_xray_ids(std::string_view text);

/// Of sun_path, without its NUL: unix(7).
inline constexpr std::size_t kLongestSocketPath = 107;

}  // namespace sp::cli
