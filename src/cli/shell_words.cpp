#include "cli/shell_words.h"

#include <fmt/format.h>

#include <optional>

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

// Reads a text from left to right. A word starts with its first character or quote, so '' is a
// word.
class ShellWords {
 public:
  explicit ShellWords(std::string_view text) : rest_(text) {}

  Result<std::vector<std::string>> split() {
    while (!rest_.empty()) {
      const char c = take();
      if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else if (c == '\'') {
        if (!take_single_quoted()) {
          return unterminated("'");
        }
      } else if (c == '"') {
        if (!take_double_quoted()) {
          return unterminated("\"");
        }
      } else if (c == '\\') {
        if (rest_.empty()) {
          return fail("-c: the command ends with a \\ that quotes nothing; remove or double it");
        }
        take_escaped();
      } else {
        word() += c;
      }
    }
    end_word();
    if (words_.empty()) {
      return fail("-c: the command is empty; give one: -c 'CMD ARGS...'");
    }
    return std::move(words_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  std::string& word() {
    if (!word_) {
      word_.emplace();
    }
    return *word_;
  }
  void end_word() {
    if (word_) {
      words_.push_back(std::move(*word_));
      word_.reset();
    }
  }
  // Outside quotes; \ and a newline join two lines and are not part of the word.
  void take_escaped() {
    if (const char c = take(); c != '\n') {
      word() += c;
    }
  }
  bool take_single_quoted() {
    word();
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) {
      return false;
    }
    word() += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  // Within double quotes, \ quotes only $ ` " \ and newline (POSIX 2.2.3).
  bool take_double_quoted() {
    word();
    while (!rest_.empty()) {
      const char c = take();
      if (c == '"') {
        return true;
      }
      if (c == '\\' && !rest_.empty() &&
          std::string_view("$`\"\\\n").find(rest_.front()) != std::string_view::npos) {
        take_escaped();
      } else {
        word() += c;
      }
    }
    return false;
  }
  static tl::unexpected<core::Error> unterminated(std::string_view quote) {
    return fail(
        fmt::format("-c: a {0} is never closed; add the missing {0}, or quote it as \\{0}", quote));
  }

  std::string_view rest_;
  std::vector<std::string> words_;
  std::optional<std::string> word_;
};

}  // namespace

Result<std::vector<std::string>> split_shell_words(std::string_view text) {
  return ShellWords(text).split();
}

}  // namespace sp::cli
