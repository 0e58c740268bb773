#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table.h"
#include "core/result.h"

namespace sp::cli {

/// The options of one command line by their long names, and what stood behind `--`. Values are as
/// typed: nothing is checked but which options there are and which of them take a value.
class Arguments {
 public:
  /// `words` are main()'s without the program's and the sub-command's name. Errors are usage
  /// errors: an unknown option, a missing value, a word that is no option
  /// where the command takes none.
  [[nodiscard]] static core::Result<Arguments> read(const std::vector<std::string>& words,
                                                    Command command);

  /// The value of a flag, and of an option whose value was left out.
  static constexpr std::string_view kPlain = "true";

  [[nodiscard]] bool has(std::string_view option) const;
  /// Every value, in the order typed.
  [[nodiscard]] std::vector<std::string> all(std::string_view option) const;
  /// The last value: a later option overrides an earlier one.
  [[nodiscard]] std::optional<std::string> last(std::string_view option) const;
  /// The words that are no options: of a command that takes some.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  /// Nothing where there was no `--`.
  [[nodiscard]] const std::optional<std::vector<std::string>>& behind_dashes() const {
    return behind_dashes_;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
  std::vector<std::string> words_;
  std::optional<std::vector<std::string>> behind_dashes_;
};

}  // namespace sp::cli
