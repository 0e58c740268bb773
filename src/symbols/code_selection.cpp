#include "symbols/code_selection.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "symbols/demangle.h"

namespace sp::symbols {
namespace {

namespace fs = std::filesystem;

/// A compiled POSIX expression.
class Expression {
 public:
  explicit Expression(const std::string& text)
      : error_(regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (error_ == 0) {
      regfree(&compiled_);
    }
  }

  /// "" if it is valid.
  [[nodiscard]] std::string complaint() const {
    std::array<char, 200> text = {};
    if (error_ != 0) {
      regerror(error_, &compiled_, text.data(), text.size());
    }
    return text.data();
  }
  [[nodiscard]] bool matches(const std::string& name) const {
    return error_ == 0 && regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_ = {};
  int error_ = 0;
};

/// The expression between the slashes.
std::optional<std::string> expression_in(const std::string& text) {
  if (text.size() < 2 || text.front() != '/' || text.back() != '/') {
    return std::nullopt;
  }
  return text.substr(1, text.size() - 2);
}

/// The opening bracket of the one that the last character closes; npos if there is none.
std::size_t opening_of_last(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == close) {
      ++depth;
    } else if (text[at] == open && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// "void ns::f<int>(char) const [clone .cold]" -> "void ns::f<int>".
std::string_view without_parameters(std::string_view name) {
  name = name.substr(0, name.find(" [clone "));
  const std::size_t last = name.rfind(')');
  if (last == std::string_view::npos) {
    return name;
  }
  const std::size_t open = opening_of_last(name.substr(0, last + 1), '(', ')');
  const bool is_all = open == 0 || open == std::string_view::npos;
  return is_all || name.substr(0, open).ends_with("operator") ? name : name.substr(0, open);
}

/// "void ns::f<int>" -> "ns::f<int>": what templates return is a part of their names.
std::string_view without_result(std::string_view name) {
  if (name.find("operator") != std::string_view::npos) {
    return name;
  }
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == '>' || name[at] == ')' || name[at] == '}') {
      ++depth;
    } else if (name[at] == '<' || name[at] == '(' || name[at] == '{') {
      --depth;
    } else if (name[at] == ' ' && depth == 0) {
      return name.substr(at + 1);
    }
  }
  return name;
}

std::string_view without_arguments(std::string_view name) {
  if (!name.ends_with('>') || name.find("operator") != std::string_view::npos) {
    return name;
  }
  const std::size_t open = opening_of_last(name, '<', '>');
  return open == 0 || open == std::string_view::npos ? name : name.substr(0, open);
}

/// A function's name in the forms that a user may write.
std::array<std::string, 5> spellings(std::string_view symbol) {
  std::string full = demangle(symbol);
  const std::string_view plain = without_parameters(full);
  const std::string_view brief = without_result(plain);
  return {std::string(symbol), std::string(plain), std::string(brief),
          std::string(without_arguments(brief)), std::move(full)};
}

/// The path without symbolic links; the path itself if there is no such file.
fs::path real_file(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

bool names_module(const std::string& named, const fs::path& mapped) {
  if (named == "all" || named == mapped) {
    return true;
  }
  if (named.find('/') != std::string::npos) {
    return real_file(named) == real_file(mapped);
  }
  // The mapping names the file itself (libz.so.1.2.13), the user mostly a link to it.
  return named == mapped.filename() || real_file(mapped.parent_path() / named) == real_file(mapped);
}

}  // namespace

class FunctionMatcher::Pattern {
 public:
  explicit Pattern(std::string text) : text_(std::move(text)) {
    if (const auto expression = expression_in(text_)) {
      expression_ = std::make_unique<Expression>(*expression);
    }
  }

  [[nodiscard]] bool matches(const std::string& name) const {
    if (expression_ != nullptr) {
      return expression_->matches(name);
    }
    return name == text_ || (is_pattern_ && fnmatch(text_.c_str(), name.c_str(), 0) == 0);
  }

 private:
  std::string text_;
  bool is_pattern_ = text_.find_first_of("*?[") != std::string::npos;
  std::unique_ptr<Expression> expression_;
};

FunctionMatcher::FunctionMatcher(const CodeSelection& selection) {
  for (const std::string& text : selection.only_funcs) {
    patterns_.emplace_back(text);
  }
}
FunctionMatcher::~FunctionMatcher() = default;
FunctionMatcher::FunctionMatcher(FunctionMatcher&&) noexcept = default;
FunctionMatcher& FunctionMatcher::operator=(FunctionMatcher&&) noexcept = default;

bool FunctionMatcher::matches(std::string_view symbol) const {
  const auto names = spellings(symbol);
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return pattern.matches(name); });
  });
}

core::Result<void> check_selection(const CodeSelection& selection) {
  for (const std::string& text : selection.only_funcs) {
    const auto expression = expression_in(text);
    if (text.empty() || (expression && expression->empty())) {
      return core::fail("an empty function name");
    }
    if (expression) {
      const std::string complaint = Expression(*expression).complaint();
      if (!complaint.empty()) {
        return core::fail(fmt::format("{} is no expression: {}", text, complaint));
      }
    }
  }
  return {};
}

bool is_wanted_module(const std::vector<std::string>& named, const std::string& mapped_path,
                      bool is_main_executable) {
  if (named.empty()) {
    return is_main_executable;
  }
  if (!mapped_path.starts_with('/')) {
    return false;  // [vdso], [heap], anonymous
  }
  constexpr std::string_view kDeleted = " (deleted)";
  std::string path = mapped_path;
  if (path.ends_with(kDeleted)) {
    path.resize(path.size() - kDeleted.size());
  }
  return std::any_of(named.begin(), named.end(),
                     [&](const std::string& one) { return names_module(one, path); });
}

}  // namespace sp::symbols
