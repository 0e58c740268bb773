#include "symbols/whole_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <cstddef>
#include <utility>

namespace sp::symbols {
namespace {

using core::Result;

/// Steps of one match: a pattern such as (a*)*b is given up.
constexpr std::uint32_t kMostSteps = 200'000;

/// The expression that a glob means.
std::string regex_of_glob(std::string_view glob) {
  std::string regex;
  int braces = 0;
  for (std::size_t at = 0; at < glob.size(); ++at) {
    const char c = glob[at];
    if (c == '*') {
      regex += "[^]*";
    } else if (c == '?') {
      regex += "[^]";
    } else if (c == '[' && glob.find(']', at + 2) != std::string_view::npos) {
      const std::size_t end = glob.find(']', at + 2);
      const bool is_negated = glob[at + 1] == '!' || glob[at + 1] == '^';
      regex += is_negated ? "[^" : "[";
      for (std::size_t i = at + (is_negated ? 2 : 1); i < end; ++i) {
        regex += glob[i] == '[' || glob[i] == '^' || glob[i] == ']' ? "\\" : "";
        regex += glob[i];
      }
      regex += ']';
      at = end;
    } else if (c == '{' && glob.find('}', at) != std::string_view::npos) {
      ++braces;
      regex += "(?:";
    } else if (c == '}' && braces > 0) {
      --braces;
      regex += ')';
    } else if (c == ',' && braces > 0) {
      regex += '|';
    } else {
      const bool is_escape = c == '\\' && at + 1 < glob.size();
      at += is_escape ? 1 : 0;
      constexpr std::string_view kSpecial = "^$\\.*+?()[]{}|";
      regex += kSpecial.find(glob[at]) != std::string_view::npos ? "\\" : "";
      regex += glob[at];
    }
  }
  return regex;
}

const unsigned char* bytes(std::string_view text) {
  return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

/// The syntax of ECMAScript, as far as that differs.
constexpr std::uint32_t kOptions = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
                                   PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
                                   PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_UTF;

}  // namespace

Result<WholeRegex> WholeRegex::compile(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) {
    return core::fail(fmt::format("it has more than {} characters", kLongestPattern));
  }
  int number = 0;
  std::size_t place = 0;
  pcre2_code* const code =
      pcre2_compile(bytes(pattern), pattern.size(), kOptions, &number, &place, nullptr);
  if (code == nullptr) {
    std::array<unsigned char, 256> text{};
    pcre2_get_error_message(number, text.data(), text.size());
    return core::fail(fmt::format("{} at character {}",
                                  static_cast<const char*>(static_cast<void*>(text.data())),
                                  place + 1));
  }
  return WholeRegex(std::shared_ptr<const pcre2_real_code_8>(
      code, [](const pcre2_real_code_8* one) { pcre2_code_free(const_cast<pcre2_code*>(one)); }));
}

Result<WholeRegex> WholeRegex::compile_glob(std::string_view glob) {
  return compile(regex_of_glob(glob));
}

bool WholeRegex::matches(std::string_view text) const {
  if (text.size() > kLongestText) {
    return false;
  }
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  if (data == nullptr || limits == nullptr) {
    return false;
  }
  pcre2_set_match_limit(limits.get(), kMostSteps);
  return pcre2_match(code_.get(), bytes(text), text.size(), 0, 0, data.get(), limits.get()) >= 0;
}

}  // namespace sp::symbols
