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
  return text + "All other options are in superprofiler --help.\n";
}

}  // namespace sp::cli
