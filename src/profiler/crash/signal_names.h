#pragma once

#include <string>
#include <string_view>

namespace sp::profiler {

/// "SIGSEGV"; "signal 40" where it has no name.
[[nodiscard]] std::string signal_name(int signal);

/// What si_code says of the signal: "SEGV_MAPERR", "SI_TKILL"; "" where it has no name.
/// sigaction(2).
[[nodiscard]] std::string_view signal_code_name(int signal, int code);

}  // namespace sp::profiler
