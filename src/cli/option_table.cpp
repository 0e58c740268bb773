#include "cli/option_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/check.h"
#include "core/edit_distance.h"

namespace sp::cli {
namespace {

using enum Command;

constexpr Commands kRecord{record};
constexpr Commands kDoctorToo{record, doctor};
constexpr Commands kLive{record, top};
constexpr Commands kCounted{record, top, count};
constexpr Commands kOfProcesses{record, doctor, dump, top, count, xray};
constexpr Commands kOfNames{record,  annotate, dump,     top,  count,
                            convert, report,   coverage, xray, symbols};
constexpr Commands kShowProgress{record,   annotate, dump, count,   convert, report,
                                 coverage, diff,     xray, symbols, replay};
constexpr Commands kSorted{report, top};
constexpr Commands kTopOnly{top};
constexpr Commands kFilesToo{record, count, convert, diff, coverage, symbols, report};
constexpr Commands kFlame{record, diff};
constexpr Commands kConvertOnly{convert};
constexpr Commands kCoverageOnly{coverage};
constexpr Commands kReportToo{record, report};
constexpr Commands kReportOnly{report};
constexpr Commands kDiffOnly{diff};
constexpr Commands kJson{report, diff, info, dump, count};
constexpr Commands kOfTraces{convert, report, replay};
constexpr Commands kLimited{convert, report, diff, count, replay};
constexpr Commands kCountOnly{count};
constexpr Commands kCountToo{record, count};
constexpr Commands kXrayOnly{xray};
constexpr Commands kFunctions{record, top, symbols};
constexpr Commands kFilters{record, symbols};
constexpr Commands kRules{record, symbols, xray};
constexpr Commands kSymbolsOnly{symbols};
constexpr Commands kSources{record, convert, coverage};
constexpr Commands kEvery{record, doctor,   annotate, convert, report, diff,  info,  dump,
                          top,    coverage, xray,     symbols, ctl,    count, replay};

constexpr std::string_view kFormats =
    "callgrind callgrind-lines speedscope pprof folded svg csv bolt autofdo perf-script firefox "
    "chrome perfetto lcov cobertura drcov xray";

constexpr auto kOptions = std::to_array<OptionRow>({
    {"pid", 'p', "PID", "attach to a running process; several: 12,34", Group::target,
     Completes::processes, "", kOfProcesses},
    {"command", 'c', "CMD", "launch CMD, split into words as a shell would", Group::target,
     Completes::commands, "", kCounted},
    {"duration", 'd', "TIME", "stop after TIME: 30s, 1m (a bare number: s)", Group::target,
     Completes::nothing, "", kCounted},
    {"delay", 'D', "TIME", "let the target run TIME before the first sample", Group::target},
    {"follow", '\0', "WHAT", "fork,exec,all,none [launch: all, -p: exec]", Group::target,
     Completes::choices, "all fork exec none", kCounted},
    {"threads", '\0', "WHICH", "all or main; main with -p TID: that thread [all]", Group::target,
     Completes::choices, "all main", kCounted},
    {"no-aslr", '\0', "", "launch without address randomisation", Group::target},

    {"interval", 'i', "TIME", "mean time between samples: 100us, 1ms [100us]", Group::sampling,
     Completes::nothing, "", kCounted},
    {"frequency", 'F', "HZ", "the same as a rate", Group::sampling, Completes::nothing, "", kLive},
    {"overhead", '\0', "PCT", "what profiling may cost; 0: no limit [25]", Group::sampling,
     Completes::nothing, "", kCounted},
    {"wall", '\0', "", "show blocked time too, not only time on a CPU", Group::sampling,
     Completes::nothing, "", kLive},
    {"trace-prob", 't', "P", "share of samples that collect a stack [1]", Group::sampling},
    {"stop-with", '\0', "HOW", "sigstop or interrupt [sigstop]", Group::sampling,
     Completes::choices, "sigstop interrupt"},

    {"no-instrumentation", 'n', "", "sampling only", Group::exact},
    {"single", 's', "HOW", "count every executed block: by copies, or by steps", Group::exact,
     Completes::choices, "copies step", kRecord, true},
    {"allow-bottlenecking", 'a', "", "keep probes however hot they are", Group::exact,
     Completes::nothing, "", kCountToo},
    {"no-copies", '\0', "", "hot code is not counted in instrumented copies", Group::exact,
     Completes::nothing, "", kCountToo},
    {"derive", '\0', "", "no probe if its count follows from others", Group::exact},
    {"coverage", '\0', "LEVEL", "what is reached at all: block or function", Group::exact,
     Completes::choices, "block function", kRecord, true},
    {"coverage-known", '\0', "RUN", "no probes where this run was (coverage.tsv)", Group::exact,
     Completes::files},
    {"trace", '\0', "", "every call, with times; see --trace --help", Group::exact,
     Completes::nothing, "", kReportToo},
    {"tree", '\0', "", "calls by their contexts; see --tree --help", Group::exact},
    {"only-funcs", '\0', "F", "probes in these functions only: name, glob, /re/", Group::exact,
     Completes::nothing, "", kFunctions},
    {"toggle-collect", '\0', "F", "with -s: count only while in F, as callgrind", Group::exact},
    {"only-instrument-execs", '\0', "PATH", "probes in these files only", Group::exact,
     Completes::files, "", kLive},
    {"func-instrumentation-depth", '\0', "N", "no entry probes in the N innermost [5]",
     Group::exact},

    {"min-duration", '\0', "TIME", "trace: leave out calls that are shorter", Group::trace},
    {"max-depth", '\0', "N", "trace: leave out calls that are deeper", Group::trace},
    {"when-full", '\0', "HOW", "trace: flush, keep (the newest), discard [flush]", Group::trace,
     Completes::choices, "flush keep discard"},
    {"wait-when-full", '\0', "", "trace: threads wait rather than lose events", Group::trace},
    {"buffer", '\0', "EVENTS", "trace: kept or not discarded, a thread [65536]", Group::trace},
    {"trace-size", '\0', "SIZE", "trace: how large trace.sp may become: 500MB", Group::trace},
    {"control", '\0', "PATH", "a socket for superprofiler ctl PATH on, off, ..", Group::trace,
     Completes::files},
    {"start-off", '\0', "", "nothing is traced before ctl PATH on or a trigger", Group::trace},
    {"dormant-after", '\0', "PCT", "off when it costs more in 3 s in a row", Group::trace},
    {"trigger", '\0', "SPEC", "F@on, off, flush or stop[,if=dur>1ms][,after=N]", Group::trace},
    {"filters", '\0', "FILE", "which functions are traced: rules in TOML", Group::trace,
     Completes::files, "", kRules},
    {"attr-list", '\0', "FILE", "the same as an attribute list of XRay", Group::trace,
     Completes::files, "", kRules},
    {"via", '\0', "PLACE", "only functions with such a place; copy, int3: how", Group::trace,
     Completes::choices, "auto copy int3 xray patchable fentry cyg", kFilters},
    {"xray-id", '\0', "IDS", "only functions with these XRay ids: 1,3-5", Group::trace,
     Completes::nothing, "", kFilters},
    {"learn", '\0', "TIME", "trace: after TIME, without what costs most", Group::trace},
    {"keep-overhead", '\0', "PCT", "learn: what the rest may cost [5]", Group::trace},
    {"emit", '\0', "WHERE", "tree: send what is new to unix:PATH or fd:N", Group::trace},
    {"emit-every", '\0', "TIME", "emit: how often, 10ms or more [1s]", Group::trace},
    {"emit-addresses", '\0', "", "emit: no names", Group::trace},
    {"emit-budget", '\0', "SIZE", "emit: less often from 90 % of it on: 10MB/day", Group::trace},
    {"label", '\0', "K=V", "emit, push: tells the reader, such as commit=abc", Group::trace},
    {"push", '\0', "URL", "samples to a Pyroscope server as they come", Group::trace},
    {"push-every", '\0', "TIME", "push: how often, 1s or more [10s]", Group::trace},
    {"split", '\0', "EACH", "runs NAME.1, NAME.2, ..: a new one each 1h, or 1GB", Group::trace},
    {"split-keep", '\0', "N", "split: remove all but the last N parts [all]", Group::trace},

    {"source-map", '\0', "FROM=TO", "coverage: where the sources are now", Group::output,
     Completes::nothing, "", kSources},
    {"flame", '\0', "", "write flamegraph.svg too", Group::output, Completes::nothing, "", kFlame},
    {"by-thread", '\0', "", "separate stacks for each thread", Group::output, Completes::nothing,
     "", kReportToo},
    {"output", 'o', "DIR", "parent directory of runs [output]", Group::output,
     Completes::directories, "", kFilesToo},
    {"name", '\0', "NAME", "name of the run [PROGRAM-PID]", Group::output},
    {"overwrite", '\0', "", "replace a run of that name", Group::output},
    {"format", 'f', "FORMAT", "what convert writes; see convert --help", Group::output,
     Completes::choices, kFormats, kConvertOnly},
    {"module", '\0', "FILE", "convert: for bolt, autofdo: a library [the program]", Group::output,
     Completes::files, "", kConvertOnly},
    {"symbols", '\0', "FILE", "convert: names of functions in traces of Spoor", Group::output,
     Completes::files, "", kConvertOnly},
    {"counts", '\0', "", "coverage: how often, by blocks.tsv of a run with -a or -s", Group::output,
     Completes::nothing, "", kCoverageOnly},
    {"sort", '\0', "BY", "report, top: self, total or calls first [self]", Group::output,
     Completes::choices, "self total calls max", kSorted},
    {"once", '\0', "", "top: one table", Group::output, Completes::nothing, "", kTopOnly},
    {"calls", '\0', "", "top: count calls, too, by probes", Group::output, Completes::nothing, "",
     kTopOnly},
    {"callers", '\0', "F", "report: who calls function F", Group::output, Completes::nothing, "",
     kReportOnly},
    {"callees", '\0', "F", "report: what function F calls", Group::output, Completes::nothing, "",
     kReportOnly},
    {"by-module", '\0', "", "report: modules, not functions", Group::output, Completes::nothing, "",
     kReportOnly},
    {"percent-limit", '\0', "PCT", "report: leave out rows below PCT [1]", Group::output,
     Completes::nothing, "", kReportOnly},
    {"fail-on", '\0', "RULE", "diff: status 1 if RULE is broken: total>5%, F:calls>0",
     Group::output, Completes::nothing, "", kDiffOnly},
    {"args", '\0', "VALUES", "count: by arguments: arg1:s,path,size:x; all", Group::output,
     Completes::nothing, "", kCountOnly},
    {"ret", '\0', "TYPE", "count: by what they return: d u x p c f s", Group::output,
     Completes::choices, "d u x p c f s", kCountOnly},
    {"hist", '\0', "", "count: histogram of durations, or of the value named last", Group::output,
     Completes::nothing, "", kCountOnly},
    {"by", '\0', "WHAT", "count: by args, caller, thread", Group::output, Completes::choices,
     "args caller thread", kCountOnly},
    {"if", '\0', "COND", "count: only calls such as arg1>4096, ret<0", Group::output,
     Completes::nothing, "", kCountOnly},
    {"limit", '\0', "N", "diff: the N functions that differ most; 0: all [20]", Group::output,
     Completes::nothing, "", kLimited},
    {"graph", '\0', "", "report: --trace: the calls in the order of their times", Group::output,
     Completes::nothing, "", kReportOnly},
    {"from", '\0', "TIME", "convert, report, replay: of a trace, from this second of the run",
     Group::output, Completes::nothing, "", kOfTraces},
    {"to", '\0', "TIME", "convert, report, replay: of a trace, up to this second", Group::output,
     Completes::nothing, "", kOfTraces},
    {"raw-times", '\0', "", "convert, report, replay: of a trace, with what its stops took",
     Group::output, Completes::nothing, "", kOfTraces},
    {"json", '\0', "", "report, diff, info, dump: JSON", Group::output, Completes::nothing, "",
     kJson},
    {"yaml", '\0', "", "xray: as llvm-xray extract prints it", Group::output, Completes::nothing,
     "", kXrayOnly},
    {"html", '\0', "", "report: a page for a browser, report.html, with everything", Group::output,
     Completes::nothing, "", kReportOnly},
    {"csv", '\0', "SEP", "symbols: cells separated by SEP, such as ;", Group::output,
     Completes::nothing, "", kSymbolsOnly},
    {"check", '\0', "FILE", "symbols: is FILE the debug file of BIN?", Group::output,
     Completes::files, "", kSymbolsOnly},
    {"debug-dir", '\0', "DIR", "look for debug files here too", Group::output,
     Completes::directories, "", kOfNames},

    {"quiet", 'q', "", "errors only", Group::terminal},
    {"verbose", 'v', "", "say more", Group::terminal},
    {"no-progress", '\0', "", "no status line, no progress line", Group::terminal,
     Completes::nothing, "", kShowProgress},
    {"color", '\0', "WHEN", "auto, always or never [auto]", Group::terminal, Completes::choices,
     "auto always never", kDoctorToo},

    {"help", 'h', "", "this text", Group::other, Completes::nothing, "", kEvery},
    {"version", 'V', "", "the version", Group::other},
    {"completions", '\0', "SHELL", "a completion script: bash, zsh or fish", Group::other,
     Completes::choices, "bash zsh fish"},
});

}  // namespace

std::span<const OptionRow> option_table() { return kOptions; }

const OptionRow* find_option(std::string_view name) {
  const auto row = std::find_if(kOptions.begin(), kOptions.end(),
                                [name](const OptionRow& option) { return option.name == name; });
  return row == kOptions.end() ? nullptr : &*row;
}

const OptionRow& option_row(std::string_view name) {
  const OptionRow* const row = find_option(name);
  SP_CHECK(row != nullptr);
  return *row;
}

bool may_be_set(const OptionRow& row) {
  return row.group != Group::other && row.name != "pid" && row.name != "command";
}

std::string_view heading(Group group) {
  switch (group) {
    case Group::target:
      return "What to profile";
    case Group::sampling:
      return "Sampling";
    case Group::exact:
      return "Exact counts (of the main program, while sampling, unless -n or -s)";
    case Group::trace:
      return "With --trace and --tree";
    case Group::output:
      return "Results";
    case Group::terminal:
      return "Terminal";
    case Group::other:
      return "Other";
  }
  return "";
}

const OptionRow* nearest_option(std::string_view typed) {
  if (!typed.starts_with("--")) {
    return nullptr;  // every letter is near to every other
  }
  const std::string_view name = typed.substr(2, typed.find('=') - 2);
  const OptionRow* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const OptionRow& row : kOptions) {
    const bool begins_so = name.size() >= 3 && row.name.starts_with(name);
    const std::size_t distance = begins_so ? 1 : core::edit_distance(name, row.name);
    if (distance < least) {
      least = distance;
      nearest = &row;
    }
  }
  return nearest;
}

}  // namespace sp::cli
