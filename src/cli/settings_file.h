#pragma once

#include <string>
#include <vector>

#include "cli/settings.h"
#include "core/result.h"

namespace sp::cli {

/// One option that a settings file sets, by its long name; the values of a flag are none.
struct SetOption {
  std::string name;
  std::vector<std::string> values;
};

/// Reads superprofiler.toml: keys are long names of options, values are strings, numbers, true (a
/// flag; false leaves it out) and arrays of strings for options that may be repeated. In paths ~
/// and $VAR are expanded, and a relative one is relative to the file. Errors have the file and the
/// line.
[[nodiscard]] core::Result<std::vector<SetOption>> read_settings_file(const SettingsFile& file);

}  // namespace sp::cli
