#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/settings.h"
#include "cli/split_options.h"
#include "cli/trace_options.h"
#include "core/call_query.h"
#include "core/clock.h"
#include "core/coverage.h"
#include "core/place_choice.h"

/// The command line as plain values. Nothing is started, opened or looked up here.
namespace sp::cli {

using core::Duration;

/// How a running thread is stopped for a sample.
enum class StopWith : std::uint8_t { sigstop, interrupt };
enum class Color : std::uint8_t { automatic, always, never };
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// Exact mode (-s): counts every executed block, by breakpoints or by single steps.
enum class Single : std::uint8_t { off, breakpoints, step };

/// --push: which server gets the samples while they come.
struct PushTo {
  std::string url;                            // http:// or https://, no query
  Duration every = std::chrono::seconds(10);  // at least 1 s
  std::vector<std::string> labels;            // "KEY=VALUE"
  std::string token;  // of kPushToken: others can read the command line; "" for none
};
/// The environment variable with the token for --push.
inline constexpr const char* kPushToken = "SUPERPROFILER_PUSH_TOKEN";

/// Which descendants of the target are profiled too.
struct Follow {
  bool fork = true;  // children by fork, vfork and clone
  bool exec = true;  // keep profiling a process that executes another program

  bool operator==(const Follow&) const = default;
};

/// Without a subcommand: launch or attach, and record.
struct RecordOptions {
  /// argv of the launched program: the target, or with `pids` a load generator. Empty only with
  /// `pids`.
  std::vector<std::string> command;
  /// Attach to these processes, or without `all_threads` to such threads; none if `command` is the
  /// target.
  std::vector<pid_t> pids;

  std::optional<Duration> duration;  // above 0
  Duration delay{};
  Duration interval = std::chrono::microseconds(100);  // mean, at least 1 us
  double overhead_percent = 25;                        // 0 = no limit
  double trace_probability = 1;                        // 0..1
  bool wall = false;
  bool all_threads = true;  // false: only those of `pids`, and the main thread of others
  Follow follow;
  StopWith stop_with = StopWith::sigstop;
  bool no_aslr = false;

  Single single = Single::off;
  bool counts_everything = false;  // --single=copies: as -a in all modules
  bool no_instrumentation = false;
  bool allow_bottlenecking = false;
  bool derive = false;
  bool no_copies = false;
  core::Coverage coverage = core::Coverage::off;
  std::vector<std::string> coverage_known;  // files coverage.tsv, or directories of runs
  std::vector<std::string> source_maps;     // "FROM=TO"
  std::optional<TraceOptions> trace;
  std::optional<TreeOptions> tree;
  std::optional<PushTo> push;
  TraceControlOptions control;          // of either
  std::optional<LearnOptions> learn;    // with trace
  std::vector<std::string> filters;     // files of which functions are traced
  std::vector<std::string> attr_lists;  // the same, as XRay has them
  core::PlaceChoice places;             // the same, by what compilers left
  std::uint64_t func_instrumentation_depth = 5;
  std::vector<std::string> only_funcs;
  std::vector<std::string> only_instrument_execs;
  std::vector<std::string> toggle_collect;  // with `single`: functions in which is counted

  std::string output = "output";
  std::string name;  // "" = PROGRAM-PID
  bool overwrite = false;
  std::optional<SplitOptions> split;
  bool flame = false;
  bool by_thread = false;
  std::vector<std::string> debug_dirs;

  Verbosity verbosity = Verbosity::normal;
  /// `never` if NO_COLOR is set and --color was not given.
  Color color = Color::automatic;
  bool no_progress = false;

  std::optional<core::CallQuery> calls;  // of `count` alone: calls are counted, nothing else

  /// Notes to print before the run unless -q is given, one line each.
  std::vector<std::string> notes;

  [[nodiscard]] bool launches_target() const { return pids.empty(); }
  /// Calls and returns are seen, instead of blocks.
  [[nodiscard]] bool sees_calls() const { return trace || tree; }
  /// Functions that are traced may run from copies.
  [[nodiscard]] bool traces_in_copies() const {
    return sees_calls() && !learn && !no_copies && places.in_copies != core::TracedInCopies::none;
  }
};

/// superprofiler doctor [-p PID]
struct DoctorOptions {
  std::optional<pid_t> pid;
  Color color = Color::automatic;
};

/// superprofiler annotate RUN FUNCTION
struct AnnotateOptions {
  std::string run;       // a run's directory
  std::string function;  // as typed
  std::vector<std::string> debug_dirs;
};

/// What a table is sorted by.
enum class Sort : std::uint8_t { self, total, calls, max };

/// Which part of a trace is wanted.
struct TraceCuts {
  std::optional<Duration> from{};  // since the run's start
  std::optional<Duration> to{};
  std::uint64_t limit = 0;  // begins and ends of calls; 0: all
  bool raw_times = false;   // with the time that superprofiler's stops took

  [[nodiscard]] bool are_given() const { return from || to || limit > 0 || raw_times; }
  bool operator==(const TraceCuts&) const = default;
};

/// superprofiler convert [RUN] -f FORMAT [-o FILE]
struct ConvertOptions {
  std::string run;                       // a run's directory; "": the newest one
  std::string format;                    // one of the choices of --format
  std::string output;                    // "": beside the run; "-": stdout
  std::string module;                    // a path or file name; "": the program
  std::vector<std::string> source_maps;  // "FROM=TO": of formats of coverage
  std::vector<std::string> debug_dirs;
  TraceCuts cuts;
  std::vector<std::string> more;     // behind `run`: files of Spoor's, and folders of them
  std::vector<std::string> symbols;  // what Spoor's ids of functions stand for
};

/// superprofiler coverage [RUN]; superprofiler coverage merge RUN.. -o DIR
struct CoverageOptions {
  bool merges = false;
  bool counts = false;            // of blocks.tsv
  std::vector<std::string> runs;  // directories, or files coverage.tsv; none: the newest one
  std::string output;             // with `merges`, `counts`: a directory
  std::vector<std::string> source_maps;
  std::vector<std::string> debug_dirs;
};

/// superprofiler report [RUN]; superprofiler report --html [RUN] [-o FILE]
struct ReportOptions {
  std::string run;           // a run's directory; "": the newest one
  std::optional<Sort> sort;  // nothing: self, or calls if nothing was sampled
  std::string callers;       // of this function; "": not asked for
  std::string callees;
  bool by_module = false;
  bool by_thread = false;
  double percent_limit = 1;  // 0..100
  bool json = false;
  bool trace = false;  // of the calls of trace.sp, not of samples
  bool graph = false;  // with `trace`: the calls in the order of their times
  TraceCuts cuts;      // with `trace`: raw_times; with `graph`: all
  bool html = false;   // a page, not a table
  std::string output;  // with `html`: a file; "": report.html beside the run; "-": stdout
  std::vector<std::string> debug_dirs;  // with `html`
};

/// A bound on how much more or less B may be than A: "total>5%", "F:calls>0", "F:self>10ms".
struct DiffRule {
  enum class Metric : std::uint8_t { self, total, calls, executions, instructions };
  enum class Unit : std::uint8_t { one, percent, nanoseconds };

  std::string text;      // as typed
  std::string function;  // a name, a glob or a /regex/; "": the whole run
  Metric metric = Metric::total;
  bool more = true;  // broken if it grows by more than `limit`; false: by less
  double limit = 0;  // may be negative: "total<-5%" is broken by a run that got faster
  Unit unit = Unit::one;
};

/// superprofiler diff A[,A2..] B[,B2..]
struct DiffOptions {
  std::string before;  // as typed: runs' directories, separated by commas
  std::string after;
  std::vector<DiffRule> rules;
  std::uint64_t limit = 20;  // functions shown; 0: all
  bool flame = false;
  std::string output;  // of the flame graph; "": B/diff.svg
  bool json = false;
};

/// superprofiler info [RUN]
struct InfoOptions {
  std::string run;  // a run's directory or its recording; "": the newest one
  bool json = false;
};

/// superprofiler dump -p PID
struct DumpOptions {
  std::vector<pid_t> pids;  // at least one
  bool json = false;
  std::vector<std::string> debug_dirs;
};

/// superprofiler top -p PID, or -- CMD
struct TopOptions {
  RecordOptions run;  // writes no files
  Duration interval = std::chrono::seconds(1);
  bool once = false;
  Sort sort = Sort::self;
};

/// Functions whose calls are counted: "c:str*".
struct CountPattern {
  std::string module;    // a path, a file name, "c" for libc.so.6, "*" for all; "": the program
  std::string function;  // a name, a glob or a /regex/
};

/// superprofiler count PATTERN.. -p PID, or -- CMD
struct CountOptions {
  RecordOptions run;  // writes no files
  std::vector<CountPattern> patterns;
  std::optional<Duration> interval;  // between two tables; nothing: one at the end
  core::CallQuery query;
  bool all_parameters = false;  // --args all: `query` has none of them yet
  std::string condition;        // --if, as typed
  std::uint64_t limit = 20;     // groups that are shown of a function; 0: all
  bool json = false;
  std::string output;  // a file; "": stdout, or stderr if a program is launched
};

/// superprofiler xray BIN; superprofiler xray -p PID
struct XrayOptions {
  std::string file;          // "" with `pid`
  std::optional<pid_t> pid;  // a process instead of a file
  bool yaml = false;
  std::vector<std::string> debug_dirs;
  std::vector<std::string> filters{};     // files; with them and the lists: only functions that
  std::vector<std::string> attr_lists{};  // would be traced
};

/// superprofiler symbols BIN
struct SymbolsOptions {
  std::string binary;
  std::vector<std::string> only_funcs;
  std::vector<std::string> filters;
  std::vector<std::string> attr_lists;
  core::PlaceChoice places;
  std::optional<char> separator;  // of cells; nothing: a TSV file
  std::string output;             // "": stdout
  std::string check;              // a debug file to compare with; "": none
  std::vector<std::string> debug_dirs;
};

/// superprofiler ctl PATH COMMAND [ARG]
struct CtlOptions {
  std::string path;     // of the socket of a run
  std::string command;  // with its argument; one line
};

/// Text to print before exiting: help, version and completions (status 0, complete, for stdout), or
/// a usage error (status 2, one line without a newline, for stderr).
struct PrintAndExit {
  std::string text;
  int status = 0;
};

using Parsed =
    std::variant<RecordOptions, DoctorOptions, AnnotateOptions, ConvertOptions, ReportOptions,
                 DiffOptions, InfoOptions, DumpOptions, TopOptions, CountOptions, CoverageOptions,
                 XrayOptions, SymbolsOptions, CtlOptions, PrintAndExit>;

/// Parses the arguments of main(), and what is set elsewhere. Also reads $NO_COLOR.
[[nodiscard]] Parsed parse(int argc, const char* const* argv, const Settings& settings = {});

}  // namespace sp::cli
