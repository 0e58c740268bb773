#include "core/toml.h"

#include <algorithm>
#include <exception>

namespace sp::core {
namespace {

class TomlAssertion : public std::exception {};

constexpr std::string_view kTomlBlanks = " \t";

/// A name may begin with it.
bool begins_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '"' || c == '\'';
}

/// Behind the brackets of the first header that no name follows.
TomlError nameless_header(std::string_view text) {
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::size_t at = std::min(line.find_first_not_of(kTomlBlanks), line.size());
    if (!line.substr(at).starts_with('[')) {
      continue;
    }
    at += line.substr(at).starts_with("[[") ? 2 : 1;
    at = std::min(line.find_first_not_of(kTomlBlanks, at), line.size());
    if (at == line.size() || !begins_key(line[at])) {
      return {number, static_cast<std::uint32_t>(at + 1), "a table's name is missing here"};
    }
  }
  return {1, 1, "this is no TOML"};
}

}  // namespace

void refuse_toml() { throw TomlAssertion(); }

tl::expected<toml::table, TomlError> parse_toml(std::string_view text) {
  try {
    return toml::table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const toml::source_position& where = error.source().begin;
    return tl::unexpected(TomlError{where.line, where.column, std::string(error.description())});
  } catch (const TomlAssertion&) {
    return tl::unexpected(nameless_header(text));
  }
}

}  // namespace sp::core
