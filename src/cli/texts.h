#pragma once

#include <string>
#include <string_view>

namespace sp::cli {

/// Examples, then the options of recording by group; at most 80 columns.
[[nodiscard]] std::string help_text();
/// Of --trace and --tree.
[[nodiscard]] std::string trace_help_text();
[[nodiscard]] std::string doctor_help_text();
[[nodiscard]] std::string annotate_help_text();
[[nodiscard]] std::string convert_help_text();
[[nodiscard]] std::string report_help_text();
[[nodiscard]] std::string replay_help_text();
[[nodiscard]] std::string diff_help_text();
[[nodiscard]] std::string info_help_text();
[[nodiscard]] std::string dump_help_text();
[[nodiscard]] std::string top_help_text();
[[nodiscard]] std::string count_help_text();
[[nodiscard]] std::string coverage_help_text();
[[nodiscard]] std::string xray_help_text();
[[nodiscard]] std::string symbols_help_text();
[[nodiscard]] std::string ctl_help_text();
[[nodiscard]] std::string version_text();

/// A script for `shell`: bash, zsh or fish; "" for any other.
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace sp::cli
