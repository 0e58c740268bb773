#include <string>

#include "cli/help_lines.h"
#include "cli/option_table.h"
#include "cli/texts.h"

namespace sp::cli {

std::string count_help_text() {
  std::string text =
      "superprofiler count FUNC.. -p PID: counts the calls of functions in a process until\n"
      "Ctrl-C; the process goes on.\n"
      "superprofiler count FUNC.. -- CMD: launches CMD and counts until it ends.\n"
      "FUNC is [MODULE:]NAME. NAME is a name, a glob or a /regex/, such as 'str*'; MODULE a\n"
      "path, a file name, c for libc.so.6, * for all; without it the program. Breakpoints\n"
      "are set on these functions alone, and calls from within a library count, too. Hot\n"
      "ones are counted in instrumented copies; where that is not possible, and calls cost\n"
      "more than --overhead, counting ends (exact-until), unless -a is given.\n\n"
      "  superprofiler count 'c:malloc' -d 10s -p 1234\n"
      "  superprofiler count 'c:open*' --args arg1:s --ret d --if 'ret<0' -- make\n"
      "  superprofiler count parse --hist -- ./server     how long the calls take\n\n"
      "  -i, --interval TIME         a table each TIME, not one at the end\n"
      "      --args VALUES           a row for each: arg1:s,arg2:d or names; all\n"
      "      --ret TYPE              a row for each value that is returned\n"
      "                              types: d u x p c(har) f(double) s(tring)\n";
  for (const OptionRow& row : option_table()) {
    if (!row.is_for(Command::count) || row.name == "interval" || row.name == "args" ||
        row.name == "ret") {
      continue;
    }
    text +=
        row.name == "hist"
            ? "      --hist                  p50, p90, p99, max and bars: of --ret, else of the\n"
              "                              argument, else of how long calls take\n"
        : row.name == "limit"  ? "      --limit N               rows of a function; 0: all [20]\n"
        : row.name == "output" ? "  -o, --output FILE           write there\n"
                               : line_in(row);
  }
  return text +
         "\nStatus: the program's if it was launched, else 0; 2 if the command line is wrong or\n"
         "no function has the name; 125 if the process cannot be traced.\n";
}

}  // namespace sp::cli
