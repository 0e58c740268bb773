#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_table.h"
#include "core/result.h"

namespace sp::cli {

/// The options of one command line by their long names, and the words after `--`. Values are as
/// typed: only the names of options and the presence of values are checked.
class Arguments {
 public:
  /// `words` are the arguments after the program's and the subcommand's name. Errors are usage
  /// errors: an unknown option, a missing value, an unexpected word that is not an option.
  [[nodiscard]] static core::Result<Arguments> read(const std::vector<std::string>& words,
                                                    Command command);
  /// The same for options of any command, and no words.
  [[nodiscard]] static core::Result<Arguments> read_any(const std::vector<std::string>& words);

  /// The value of a flag, and of an option without its optional value.
  static constexpr std::string_view kPlain = "true";

  [[nodiscard]] bool has(std::string_view option) const;
  /// Every value, in the order typed.
  [[nodiscard]] std::vector<std::string> all(std::string_view option) const;
  /// The last value: a later option overrides an earlier one.
  [[nodiscard]] std::optional<std::string> last(std::string_view option) const;
  /// The words that are not options, for a command that takes some.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  /// Nothing without a `--`.
  [[nodiscard]] const std::optional<std::vector<std::string>>& after_dashes() const {
    return after_dashes_;
  }

 private:
  /// `command`: of which the options are; nothing: of all commands.
  [[nodiscard]] static core::Result<Arguments> read_for(const std::vector<std::string>& words,
                                                        std::optional<Command> command);

  std::map<std::string, std::vector<std::string>, std::less<>> given_;
  std::vector<std::string> words_;
  std::optional<std::vector<std::string>> after_dashes_;
};

}  // namespace sp::cli
