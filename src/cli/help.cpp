#include <fmt/format.h>

#include <optional>

#include "cli/help_lines.h"
#include "cli/option_table.h"
#include "cli/texts.h"

namespace sp::cli {
namespace {

constexpr std::string_view kExamples =
    R"help(superprofiler: show where a Linux process spends its time

Examples
  superprofiler --flame -- ./server 8080         launch, profile until it ends
  superprofiler --flame -d 10s -p 1234           attach to 1234 for 10 seconds
  superprofiler -p 1234 -- wrk http://localhost  profile 1234 while wrk runs
  superprofiler --single -- ./parse file         count every block exactly
  superprofiler --coverage -- make check         which code the tests reach
  superprofiler top -p 1234                      where it spends its time, live
  superprofiler doctor -p 1234                   can 1234 be profiled?
Results: output/NAME/*; report, annotate show them. Ctrl-C ends an attached run;
the target goes on. convert (pprof, ..), coverage, diff, .. have --help, too.
)help";

}  // namespace

std::string help_text() {
  std::string text(kExamples);
  std::optional<Group> group;
  for (const OptionRow& row : option_table()) {
    if (!row.is_for(Command::record) || row.group == Group::trace) {
      continue;
    }
    if (group != row.group) {
      group = row.group;
      text += fmt::format("\n{}\n", heading(row.group));
    }
    text += option_line(row);
  }
  return text;
}

std::string doctor_help_text() {
  std::string text =
      "superprofiler doctor [-p PID]: checks whether this machine allows profiling, and\n"
      "prints a fix for each problem. Status 0 if profiling works, 1 if it does not.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::doctor)) {
      text += row.name == "pid" ? "  -p, --pid PID               can this process be profiled?\n"
                                : option_line(row);
    }
  }
  return text;
}

std::string annotate_help_text() {
  std::string text =
      "superprofiler annotate RUN FUNCTION: prints the function's instructions and source\n"
      "lines with the execution count of each block. RUN is the directory of a run\n"
      "recorded without -n, such as output/NAME. FUNCTION is a name from blocks.tsv; if\n"
      "several functions have it, MODULE:NAME or MODULE:0xOFFSET.\n"
      "Status 0; 1 if there is nothing to show; 2 if the name is ambiguous.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::annotate)) {
      text += option_line(row);
    }
  }
  return text;
}

std::string convert_help_text() {
  std::string text =
      "superprofiler convert [RUN] -f FORMAT [-o FILE]: writes a run in the format of\n"
      "another program. RUN is the directory of a run, or a recording.sp; left out, the\n"
      "newest in output/.\n"
      "The file is RUN/NAME.SUFFIX (callgrind: RUN/callgrind.out.NAME) and replaces an\n"
      "earlier one.\n\n"
      "  callgrind   exact instructions, calls, jumps, and samples: kcachegrind,\n"
      "              callgrind_annotate. Inclusive instructions are estimated\n"
      "  callgrind-lines\n"
      "              the same without addresses and jumps, which speedscope does not read\n"
      "  speedscope  sampled stacks: https://speedscope.app, NAME.speedscope.json\n"
      "  pprof       sampled stacks, exact calls and instructions: go tool pprof,\n"
      "              NAME.pb.gz\n"
      "  folded      sampled stacks: flamegraph.pl, inferno\n"
      "  svg         sampled stacks as a flame graph: a browser\n"
      "  csv         functions.tsv, separated by commas\n"
      "  bolt        exact branches of a program, or of --module FILE, for llvm-bolt:\n"
      "              NAME.fdata. Reads the program. Record it with -s\n"
      "  autofdo     exact counts of its source lines, for clang -fprofile-sample-use:\n"
      "              NAME.afdo. Reads its debug information\n"
      "  perf-script each sample with its time and thread, as perf script prints it\n"
      "  firefox     the threads with their samples: https://profiler.firefox.com,\n"
      "              NAME.firefox.json.gz\n"
      "  chrome      the threads on a time line: https://ui.perfetto.dev, speedscope,\n"
      "              NAME.trace.json\n"
      "  perfetto    the same for https://ui.perfetto.dev, NAME.perfetto-trace\n"
      "  lcov        the lines that a run for coverage reached: genhtml, NAME.info\n"
      "  cobertura   the same for CI systems: NAME.cobertura.xml\n"
      "  drcov       its blocks for Lighthouse and others: NAME.drcov\n"
      "  xray        the calls of a trace for llvm-xray: NAME.xray, NAME.xray.yaml\n\n"
      "Of a run with a trace (trace.sp), or of a trace.sp, perfetto, chrome and speedscope\n"
      "have every call. So they have of Spoor's files:\n"
      "  superprofiler convert X.spoor_trace.. [--symbols S.spoor_symbols] -f FORMAT\n"
      "Folders are searched for them; the file is DIR/RUN.SUFFIX.\n\n"
      "  -f, --format FORMAT         left out: by the name after -o\n"
      "  -o, --output FILE           write there; -: to stdout\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::convert) && row.name != "format" && row.name != "output") {
      text += row.name == "limit"
                  ? "      --limit N               of a trace, N begins and ends of calls\n"
                  : line_in(row);
    }
  }
  return text +
         "\nStatus 0; 2 if the command line is wrong; 125 if the run cannot be read or the\n"
         "file not written.\n";
}

std::string report_help_text() {
  std::string text =
      "superprofiler report [RUN]: prints the functions of a run. RUN is the directory of\n"
      "a run; left out, the newest in output/. Self and total are sampled: time in\n"
      "the function, or in it and what it calls. Calls are counted; their kind is as in\n"
      "functions.tsv, mixed where a part was not counted to the end. F is a name with or\n"
      "without parameters, a glob or a /regex/.\n"
      "superprofiler report --html [RUN] [-o FILE]: writes a page for a browser, report.html\n"
      "in the run's directory, which needs no other file and no network: flame graph,\n"
      "icicle, callers and callees of a function, functions, blocks, edges, threads on a\n"
      "time line, source and instructions of the hottest functions.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::report)) {
      text += row.name == "by-thread" ? "      --by-thread             threads, not functions\n"
              : row.name == "trace"
                  ? "      --trace                 traced calls (trace.sp), not samples\n"
              : row.name == "limit"
                  ? "      --limit N               --graph: N begins and ends of calls [10000]\n"
              : row.name == "sort"
                  ? "      --sort BY               self, total, calls, max (--trace) [self]\n"
              : row.name == "output"
                  ? "  -o, --output FILE           --html: write there; -: stdout\n"
                  : line_in(row);
    }
  }
  return text +
         "\nStatus 0; 2 if the command line is wrong or no function has the name; 125 if\n"
         "the run cannot be read.\n";
}

std::string diff_help_text() {
  std::string text =
      "superprofiler diff A B: prints what differs between two runs, the largest first.\n"
      "A and B are directories of runs, or several of each: A1,A2,A3 B1,B2,B3. Counts are\n"
      "compared exactly if both runs counted over the same time. Of samples the CPU time\n"
      "of a function is compared, and shown if it left the bounds of 99 % for the whole\n"
      "table and by more than 2 %. With one run a side the bounds have the noise of\n"
      "sampling alone; several runs have that between runs too.\n\n"
      "RULE is [F:]METRIC>N: B exceeds A by more than N, N%, or a time such as 10ms;\n"
      "METRIC<-N: it is lower by more. F is a name, a glob or a /regex/; without it the\n"
      "whole run is compared. METRIC is one of\n"
      "  total         sampled CPU time of F with its callees; of the run: CPU time, or\n"
      "                instructions if it was not sampled\n"
      "  self          sampled CPU time of F alone\n"
      "  calls, executions (of blocks), instructions     as counted\n"
      "What cannot be compared breaks its rule.\n\n";
  for (const OptionRow& row : option_table()) {
    if (!row.is_for(Command::diff)) {
      continue;
    }
    text += row.name == "flame"
                ? "      --flame                 write B/diff.svg: red more, blue less\n"
            : row.name == "output" ? "  -o, --output FILE           write the flame graph there\n"
                                   : line_in(row);
  }
  return text +
         "\nStatus 0; 1 if a rule is broken; 2 if the command line is wrong; 125 if a run\n"
         "cannot be read.\n";
}

std::string info_help_text() {
  std::string text =
      "superprofiler info [RUN]: prints what the recording of a run holds: samples with\n"
      "their times and threads, stacks, names, counts, modules. RUN is the directory of\n"
      "a run, or its recording.sp; left out, the newest in output/.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::info)) {
      text += line_in(row);
    }
  }
  return text +
         "\nStatus 0; 2 if the command line is wrong; 125 if there is no recording. One that\n"
         "is cut or damaged is read up to there, and a line says so.\n";
}

std::string dump_help_text() {
  std::string text =
      "superprofiler dump -p PID: prints the stacks of all threads of a process, as they\n"
      "are now. Threads that run are stopped together, for some ms (said on stderr);\n"
      "threads that sleep are not. Each frame has function and offset, module and offset in\n"
      "it, file and line; inlined functions are frames of their own. The process then goes\n"
      "on; if it was stopped (SIGSTOP), it stays stopped. Several are taken one by one.\n\n"
      "  -p, --pid PID               the process; several: 12,34\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::dump) && row.name != "pid") {
      text += option_line(row);
    }
  }
  return text +
         "\nStatus 0; 2 if the command line is wrong; 125 if a process cannot be looked at.\n";
}

std::string top_help_text() {
  std::string text =
      "superprofiler top -p PID: shows where a process spends its time, a table every\n"
      "second. On a terminal it redraws; q or Ctrl-C ends it, and the process goes on.\n"
      "superprofiler top -- CMD: launches CMD; the tables go to stderr.\n"
      "Self and total are sampled, in the time since the last table. With --calls, calls/s\n"
      "are counted exactly, by breakpoints in the program's own functions; - where they\n"
      "were not counted all the time. No files are written.\n\n"
      "  -i, --interval TIME         time between two tables [1s]\n"
      "  -F, --frequency HZ          samples a second and CPU [1000]\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::top) && row.name != "interval" && row.name != "frequency") {
      text += line_in(row);
    }
  }
  return text +
         "\nStatus: the program's if it was launched, else 0; 2 if the command line is wrong;\n"
         "125 if the process cannot be profiled.\n";
}

std::string coverage_help_text() {
  std::string text =
      "superprofiler coverage [RUN]: prints which functions, blocks and lines a run for\n"
      "coverage has reached, by module and by source file. RUN is its directory, or its\n"
      "coverage.tsv; left out, the newest in output/.\n"
      "superprofiler coverage merge RUN RUN.. -o DIR: joins runs: writes coverage.tsv,\n"
      "coverage.info and cobertura.xml into DIR.\n"
      "superprofiler coverage --counts RUN [-o DIR]: writes these two of a run with -a or -s,\n"
      "with how often each line and branch ran, into DIR, or beside the run.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::coverage)) {
      text += row.name == "output"
                  ? "  -o, --output DIR            where merge and --counts write\n"
                  : line_in(row);
    }
  }
  return text +
         "\nStatus 0; 2 if the command line is wrong; 125 if a run cannot be read or a file\n"
         "not written.\n";
}

std::string xray_help_text() {
  std::string text =
      "superprofiler xray BIN: prints the sleds that clang -fxray-instrument left in a\n"
      "file: function id, kind, address (ELF virtual), always-instrument, state, name.\n"
      "superprofiler xray -p PID: those of a process as they are now, without stopping\n"
      "it. An id is MODULE:ID if several files of the process have sleds.\n\n"
      "  unpatched    as compiled, or switched off again\n"
      "  patched      switched on by the program's XRay runtime\n"
      "  by-us        superprofiler has a breakpoint in it\n"
      "  unknown      other bytes, as the jump to superprofiler's copy of a hot function\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::xray)) {
      text += row.name == "pid" ? "  -p, --pid PID               a process instead of a file\n"
                                : line_in(row);
    }
  }
  return text +
         "\nStatus 0; 1 if there is no XRay map, with a line that says what else there is\n"
         "(patchable entries, calls of mcount, ..); 2 if the command line is wrong; 125 if\n"
         "the file or the process cannot be read.\n";
}

std::string symbols_help_text() {
  std::string text =
      "superprofiler symbols BIN: prints all functions of a program or library as a table\n"
      "(TSV): id, module, offset, size, names, file and line, number of instructions, and\n"
      "whether its calls would be traced, with the reason. Starts nothing.\n\n"
      "Without rules every function is traced (default). One that a block rule matches is\n"
      "not (block:RULE), unless an allow rule does, too (allow:RULE). --filters is a TOML\n"
      "file of [[block]] and [[allow]]; man superprofiler-symbols has its keys.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::symbols)) {
      text += row.name == "only-funcs"
                  ? "      --only-funcs F          these functions only: name, glob, /re/\n"
              : row.name == "output" ? "  -o, --output FILE           write there, not to stdout\n"
                                     : line_in(row);
    }
  }
  return text +
         "\nStatus 0; 1 if the file of --check is of another build; 2 if the command line or\n"
         "a file of rules is wrong; 125 if a file cannot be read or written.\n";
}

std::string version_text() { return "superprofiler " SP_VERSION "\n"; }

}  // namespace sp::cli
