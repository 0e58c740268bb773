#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace sp::symbols {

/// Which functions are to be given probes, as the user names them: a demangled name with or without
/// parameters and template arguments ("foo", "ns::foo(int)"), a pattern of fnmatch(3) ("ns::*"), or
/// a POSIX extended expression between slashes ("/^ns::(foo|bar)/"). Nothing: all of them.
struct CodeSelection {
  std::vector<std::string> only_funcs;
};

/// Errors: an expression that regcomp(3) refuses, or a name that is empty.
[[nodiscard]] core::Result<void> check_selection(const CodeSelection& selection);

/// Compares functions with a selection; an expression that check_selection() refuses matches none.
class FunctionMatcher {
 public:
  explicit FunctionMatcher(const CodeSelection& selection);
  ~FunctionMatcher();
  FunctionMatcher(FunctionMatcher&&) noexcept;
  FunctionMatcher& operator=(FunctionMatcher&&) noexcept;

  /// `symbol` is as the file spells it; it is demangled here.
  [[nodiscard]] bool matches(std::string_view symbol) const;

 private:
  class Wish;
  std::vector<Wish> wishes_;
};

/// Whether a mapped file is to be given probes. `named` is what the user said: paths as mapped or
/// by another way (symbolic links), file names ("libz.so.1"), or "all"; nothing: only the main
/// executable.
[[nodiscard]] bool is_wanted_module(const std::vector<std::string>& named,
                                    const std::string& mapped_path, bool is_main_executable);

}  // namespace sp::symbols
