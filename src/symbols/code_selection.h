#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace sp::symbols {

/// The functions to instrument, as the user names them: a demangled name with or without parameters
/// and template arguments ("foo", "ns::foo(int)"), a pattern of fnmatch(3) ("ns::*"), or a POSIX
/// extended regular expression between slashes ("/^ns::(foo|bar)/"). Empty: all functions.
struct CodeSelection {
  std::vector<std::string> only_funcs;
};

/// Errors: an expression that regcomp(3) rejects, or an empty name.
[[nodiscard]] core::Result<void> check_selection(const CodeSelection& selection);

/// Matches functions against a selection; an expression that check_selection() rejects matches
/// none.
class FunctionMatcher {
 public:
  explicit FunctionMatcher(const CodeSelection& selection);
  ~FunctionMatcher();
  FunctionMatcher(FunctionMatcher&&) noexcept;
  FunctionMatcher& operator=(FunctionMatcher&&) noexcept;

  /// `symbol` is the mangled name; it is demangled here.
  [[nodiscard]] bool matches(std::string_view symbol) const;

 private:
  class Pattern;
  std::vector<Pattern> patterns_;
};

/// True if a mapped file is to be instrumented. `named` is the user's list: paths as mapped or
/// through symbolic links, file names ("libz.so.1"), or "all". Empty: only the main executable.
[[nodiscard]] bool is_wanted_module(const std::vector<std::string>& named,
                                    const std::string& mapped_path, bool is_main_executable);

}  // namespace sp::symbols
