#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

struct pcre2_real_code_8;  // of pcre2.h

namespace sp::symbols {

/// A regular expression that matches whole strings. The syntax is that of ECMAScript (std::regex),
/// byte by byte, as far as PCRE2 has it, and what that has beside it. Safe to share between
/// threads.
class WholeRegex {
 public:
  static constexpr std::size_t kLongestPattern = 4096;
  static constexpr std::size_t kLongestText = 8192;

  /// Errors say what is wrong at which character of the pattern.
  [[nodiscard]] static core::Result<WholeRegex> compile(std::string_view pattern);
  /// Of a pattern of file names: * (any text), ?, [a-z], [!a], {one,other}, \ in front of these.
  [[nodiscard]] static core::Result<WholeRegex> compile_glob(std::string_view glob);

  /// False for a text that is longer than kLongestText, and where it takes too many steps to find
  /// out.
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  explicit WholeRegex(std::shared_ptr<const pcre2_real_code_8> code) : code_(std::move(code)) {}

  std::shared_ptr<const pcre2_real_code_8> code_;
};

}  // namespace sp::symbols
