#include "cli/help_lines.h"
#include "cli/option_table.h"
#include "cli/texts.h"

namespace sp::cli {

std::string trace_help_text() {
  std::string text =
      "superprofiler --trace -- CMD, or -p PID: records every call and return of the\n"
      "program's functions in output/NAME/trace.sp, by breakpoints. Then\n"
      "superprofiler report --trace [--graph], or convert -f perfetto.\n"
      "superprofiler --tree -- CMD: sums calls and samples by calling context in\n"
      "tree.json, and sends them while the program runs (--emit).\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::record) && row.group == Group::trace) {
      text += option_line(row);
    }
  }
  return text +
         "\n--control PATH makes a socket, by which superprofiler ctl PATH COMMAND switches\n"
         "the trace off and on. A trigger does that by itself: 'F@on' or @off when F is\n"
         "called; @flush writes what is kept, @stop ends the run; ,if=dur>50ms when a call\n"
         "has taken longer, ,if=arg1>5 by an integer argument; ,after=N not the first N\n"
         "times; ,depth=1 not in a recursion. --when-full keep and a trigger\n"
         "'F@flush,if=dur>50ms' are a flight recorder.\n"
         "All other options are in superprofiler --help.\n";
}

std::string ctl_help_text() {
  std::string text =
      "superprofiler ctl PATH COMMAND [ARG]: sends a command to a run that has made the\n"
      "socket PATH (option control), and prints the answer, a line of JSON.\n\n"
      "  status      is the trace on; how many events, what was lost\n"
      "  off         removes all breakpoints: every byte of the program is its file's\n"
      "  on          puts them back; calls that are open are entered before\n"
      "  flush       writes what is kept (if the trace keeps the newest) to trace.sp\n"
      "  clear       forgets what was recorded so far; trace.sp begins again\n"
      "  files       the run's files and what is in them\n"
      "  prune AGE   removes finished runs beside it that are older than AGE: 12h, 10d\n"
      "  config      how the run was started\n"
      "  emit        sends what is new in a tree to its reader (option emit) at once\n"
      "  patch ID..  traces functions that the option xray-id has left out, or unpatch,\n"
      "              by their XRay ids: 1 3-5 libx.so:7\n"
      "  unpatch ID..  takes their breakpoints away\n"
      "  stop        ends the run as -d does\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::ctl)) {
      text += option_line(row);
    }
  }
  return text +
         "\nStatus 0; 1 if the answer is that it was not done; 2 if the command line is\n"
         "wrong; 125 if nobody listens at PATH.\n";
}

std::string replay_help_text() {
  std::string text =
      "superprofiler replay [RUN]: prints the calls of a traced run in the order of their\n"
      "times, indented by depth, as report's graph of a trace does. RUN is the directory of a\n"
      "run, or a trace.sp; left out, the newest in output/.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_for(Command::replay)) {
      text += row.name == "limit"
                  ? "      --limit N               N begins and ends of calls [10000]\n"
                  : line_in(row);
    }
  }
  return text +
         "\nStatus 0; 2 if the command line is wrong; 125 if the run has no trace or cannot be\n"
         "read.\n";
}

}  // namespace sp::cli
