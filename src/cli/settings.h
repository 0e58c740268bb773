#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

/// Options that do not stand on the command line: those of $SUPERPROFILER_OPTS, and those of the
/// nearest superprofiler.toml. The command line overrides the environment, which overrides the
/// file.
namespace sp::cli {

struct SettingsFile {
  std::string path;  // absolute; for messages, and what its relative paths are relative to
  std::string text;
};

/// What is set outside of the command line, unread.
struct Settings {
  std::string environment;  // options, quoted as in a shell
  std::optional<SettingsFile> file;
  std::vector<std::string> notes;  // of a file that is not used, one line each
};

/// Reads $SUPERPROFILER_OPTS and superprofiler.toml: the first one from the working directory
/// upwards, except in /. A file that neither this user nor root owns, or that may not be read, is
/// not used, and a note says so: its options could name any directory to write to. Error: reading
/// fails.
[[nodiscard]] core::Result<Settings> find_settings();

/// The words of a command line behind its subcommand, with what is set elsewhere in front of them.
struct SetWords {
  std::vector<std::string> words;
  std::vector<std::string> notes;  // which options came from where, one line each
};

/// Adds to `words`, the words behind the program's name, the options for their subcommand that the
/// settings have. An option that the words have is left out; so is one that goes ill with one of
/// those (-i with -F). Errors are usage errors that name the file and line, or the variable.
[[nodiscard]] core::Result<SetWords> with_settings(const std::vector<std::string>& words,
                                                   const Settings& settings);

}  // namespace sp::cli
