#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/result.h"

/// From the words of a command line to its meaning. Errors are usage errors.
namespace sp::cli {

[[nodiscard]] core::Result<RecordOptions> read_record(const Arguments& given);

[[nodiscard]] core::Result<ConvertOptions> read_convert(const Arguments& given);

[[nodiscard]] core::Result<ReportOptions> read_report(const Arguments& given);
[[nodiscard]] core::Result<ReportOptions> read_replay(const Arguments& given);

[[nodiscard]] core::Result<DiffOptions> read_diff(const Arguments& given);

/// "[F:]METRIC>N", N with %, or for a time with a unit. An unknown metric names the nearest.
[[nodiscard]] core::Result<DiffRule> read_rule(std::string_view text);

[[nodiscard]] core::Result<InfoOptions> read_info(const Arguments& given);

[[nodiscard]] core::Result<DumpOptions> read_dump(const Arguments& given);

[[nodiscard]] core::Result<TopOptions> read_top(const Arguments& given);

[[nodiscard]] core::Result<CountOptions> read_count(const Arguments& given);
/// "c:str*" is the functions str* of the module c. Names of C++ may have "::".
[[nodiscard]] CountPattern split_pattern(std::string_view text);

[[nodiscard]] core::Result<XrayOptions> read_xray(const Arguments& given);

[[nodiscard]] core::Result<SymbolsOptions> read_symbols(const Arguments& given);

/// --via and --xray-id.
[[nodiscard]] core::Result<core::PlaceChoice> read_places(const Arguments& given);

/// --single, and what does not go along with it.
[[nodiscard]] core::Result<void> read_single(const Arguments& given, RecordOptions& options);

/// --only-funcs or another such option, each name of its own.
[[nodiscard]] core::Result<std::vector<std::string>> read_functions(const Arguments& given,
                                                                    std::string_view option);

[[nodiscard]] core::Result<CoverageOptions> read_coverage_command(const Arguments& given);

/// What --trace and --tree (`option`) have in common: which functions, and what does not go along.
[[nodiscard]] core::Result<void> read_seen_calls(const Arguments& given, std::string_view option,
                                                 RecordOptions& options);
/// --trace and what is for it alone, after the other options of counting.
[[nodiscard]] core::Result<void> read_trace_options(const Arguments& given, RecordOptions& options);

/// --control, --start-off and --trigger, which both have.
[[nodiscard]] core::Result<void> read_trace_control(const Arguments& given, RecordOptions& options);

/// "FUNC@ACTION[,if=dur>TIME|argN>V][,after=N][,depth=N]"
[[nodiscard]] core::Result<core::TraceTrigger> read_trigger(std::string_view text);

[[nodiscard]] core::Result<CtlOptions> read_ctl(const Arguments& given);

/// --learn and --keep-overhead, of a trace.
[[nodiscard]] core::Result<void> read_learn_options(const Arguments& given, RecordOptions& options);

/// --tree, --emit and what is for them alone, after the other options of counting.
[[nodiscard]] core::Result<void> read_tree_options(const Arguments& given, RecordOptions& options);

/// --push and what is for it alone, after the other options of counting.
[[nodiscard]] core::Result<void> read_push_options(const Arguments& given, RecordOptions& options);

/// --split and --split-keep, after what says what is recorded.
[[nodiscard]] core::Result<void> read_split_options(const Arguments& given, RecordOptions& options);

/// --label: "NAME=VALUE" each.
[[nodiscard]] core::Result<std::vector<std::string>> read_labels(const Arguments& given);

/// --coverage and what is for it alone, after the other options of counting.
[[nodiscard]] core::Result<void> read_coverage_options(const Arguments& given,
                                                       RecordOptions& options);

/// --source-map and --debug-dir.
[[nodiscard]] core::Result<void> read_source_places(const Arguments& given,
                                                    std::vector<std::string>& maps,
                                                    std::vector<std::string>& debug_dirs);

/// As read_record(), where --interval is not the sampling's.
[[nodiscard]] core::Result<RecordOptions> read_live(const Arguments& given);

/// --from, --to, --limit and --raw-times, of a trace.
[[nodiscard]] core::Result<TraceCuts> read_trace_cuts(const Arguments& given);

/// The run that `command` is to read: "" if none is given. `usage`: how to name one.
[[nodiscard]] core::Result<std::string> read_run_name(const Arguments& given,
                                                      std::string_view command,
                                                      std::string_view usage);

/// What several commands have in common.
[[nodiscard]] core::Result<std::optional<pid_t>> read_pid(const Arguments& given);
/// All of "-p 12,34 -p 56", each once, in the order typed.
[[nodiscard]] core::Result<std::vector<pid_t>> read_pids(const Arguments& given);
[[nodiscard]] core::Result<Color> read_color(const Arguments& given);
[[nodiscard]] core::Result<Sort> read_sort(std::string_view value);
/// Fails if `value` is not one of the choices of `option` in the table.
[[nodiscard]] core::Result<void> check_choice(std::string_view option, std::string_view value);

}  // namespace sp::cli
