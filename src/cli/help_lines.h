#pragma once

#include <string>

#include "cli/option_table.h"

namespace sp::cli {

/// "  -o, --output DIR            parent directory of runs [output]\n"
[[nodiscard]] std::string option_line(const OptionRow& row);

/// The same without the names of the subcommands that have the option: "report, diff: ".
[[nodiscard]] std::string line_in(const OptionRow& row);

}  // namespace sp::cli
