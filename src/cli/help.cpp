#include <fmt/format.h>

#include <optional>

#include "cli/table.h"
#include "cli/texts.h"

namespace sp::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;

constexpr std::string_view kExamples =
    R"help(superprofiler: where a Linux process spends its time, without touching it

Examples
  superprofiler --flame -- ./server 8080         launch, profile until it ends
  superprofiler -c './parse "my file"'           the same, command in one word
  superprofiler --flame -d 10s -p 1234           attach to 1234 for 10 seconds
  superprofiler -p 1234 -- wrk http://localhost  profile 1234 while wrk runs
  superprofiler --wall -p "$(pgrep -n node)"     what does it wait for?
  superprofiler --single -- ./parse file         count every block exactly
  superprofiler annotate output/parse-77 main    its instructions with counts
  superprofiler doctor -p 1234                   may I profile 1234? the fix?
Results are in output/NAME/: flamegraph.svg (open in a browser), functions.tsv,
blocks.tsv, edges.tsv, stacks.folded, run.json. Ctrl-C ends an attached run;
the target lives on.
)help";

std::string option_line(const OptionRow& row) {
  std::string left = row.letter == '\0' ? fmt::format("      --{}", row.name)
                                        : fmt::format("  -{}, --{}", row.letter, row.name);
  if (!row.value.empty()) {
    left += fmt::format(fmt::runtime(row.value_optional ? "[={}]" : " {}"), row.value);
  }
  left += left.size() + 2 <= kHelpColumn ? std::string(kHelpColumn - left.size(), ' ') : "  ";
  return fmt::format("{}{}\n", left, row.help);
}

}  // namespace

std::string help_text() {
  std::string text(kExamples);
  std::optional<Group> group;
  for (const OptionRow& row : option_table()) {
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
      "superprofiler doctor [-p PID]: what this machine allows, and the fix for what\n"
      "it does not. Status 0 where profiling can work, 1 where it cannot.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.for_doctor) {
      text += row.name == "pid" ? "  -p, --pid PID               may this process be profiled?\n"
                                : option_line(row);
    }
  }
  return text;
}

std::string annotate_help_text() {
  std::string text =
      "superprofiler annotate RUN FUNCTION: the function's instructions with how often\n"
      "each block of them was executed, beside its source lines. RUN is the directory of\n"
      "a run that was recorded without -n, such as output/NAME. FUNCTION is its name\n"
      "as blocks.tsv has it; where several have it, MODULE:NAME or MODULE:0xOFFSET.\n"
      "Status 0; 1 where there is nothing to show; 2 where the name is not enough.\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.for_annotate) {
      text += option_line(row);
    }
  }
  return text;
}

std::string version_text() { return "superprofiler " SP_VERSION "\n"; }

}  // namespace sp::cli
