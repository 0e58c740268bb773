#include "cli/call_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sp::cli {

using core::CallCondition;
using core::CallQuery;
using core::CallValue;
using core::fail;
using core::Result;
using core::ValueType;

namespace {

constexpr std::string_view kTypes = "duxpcfs";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

/// "arg3" -> 3; "ret" -> 0.
std::optional<unsigned> argument_number(std::string_view name) {
  if (name == "ret") {
    return 0;
  }
  if (!name.starts_with("arg")) {
    return std::nullopt;
  }
  name.remove_prefix(3);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() && number > 0
             ? std::optional(number)
             : std::nullopt;
}

bool is_identifier(std::string_view name) {
  constexpr unsigned char kNotAscii = 0x80;
  const auto is_inner = [](unsigned char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c >= kNotAscii;
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), is_inner);
}

Result<CallValue> read_value(std::string_view option, std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto number = argument_number(name);
  if (!number && !is_identifier(name)) {
    return fail(fmt::format(
        "{}: '{}' is no value of a call; write arg1, arg2:s, .. or the names of parameters", option,
        text));
  }
  CallValue value{number.value_or(CallValue::kByName), ValueType::signed_number};
  if (!number) {
    value.name = name;
    value.has_type = name.size() < text.size();
  }
  if (name.size() < text.size()) {
    const auto type = read_value_type(option, text.substr(name.size() + 1));
    if (!type) {
      return tl::unexpected(type.error());
    }
    value.type = *type;
  }
  const unsigned most =
      value.type == ValueType::floating ? CallQuery::kMostFloating : CallQuery::kMostArguments;
  if (number && *number > most) {
    return fail(fmt::format("{}: {}: only the first {} arguments {}can be read", option, text, most,
                            value.type == ValueType::floating ? "of that type " : ""));
  }
  return value;
}

struct Operator {
  std::string_view text;
  CallCondition::Is is;
};
// Longer ones first.
constexpr std::array<Operator, 8> kOperators = {{{"==", CallCondition::Is::equal},
                                                 {"!=", CallCondition::Is::unequal},
                                                 {"<=", CallCondition::Is::at_most},
                                                 {">=", CallCondition::Is::at_least},
                                                 {"<", CallCondition::Is::less},
                                                 {">", CallCondition::Is::greater},
                                                 {"=", CallCondition::Is::equal},
                                                 {"&", CallCondition::Is::has_bits}}};

/// "-1", "4096", "0x40".
std::optional<std::uint64_t> read_word(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  text.remove_prefix(is_negative ? 1 : 0);
  const bool is_hex = text.starts_with("0x");
  text.remove_prefix(is_hex ? 2 : 0);
  std::uint64_t word = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), word, is_hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return is_negative ? -word : word;
}

Result<CallCondition> read_condition(std::string_view text) {
  const auto bad = [text] {
    return fail(
        fmt::format("--if: '{}' is no condition; write one such as arg1>4096 or ret<0, "
                    "several with &&",
                    text));
  };
  const std::size_t at = text.find_first_of("=!<>&");
  if (at == std::string_view::npos) {
    return bad();
  }
  for (const Operator& one : kOperators) {
    if (!text.substr(at).starts_with(one.text)) {
      continue;
    }
    const auto value = read_value("--if", trimmed(text.substr(0, at)));
    const auto number = read_word(trimmed(text.substr(at + one.text.size())));
    if (!value) {
      return tl::unexpected(value.error());
    }
    if (!number) {
      return bad();
    }
    if (value->type == ValueType::floating || value->type == ValueType::text) {
      return fail(
          fmt::format("--if: '{}': only numbers are compared; write {} with the type d, u "
                      "or x",
                      text, trimmed(text.substr(0, text.find(':')))));
    }
    return CallCondition{*value, one.is, *number};
  }
  return bad();
}

}  // namespace

Result<ValueType> read_value_type(std::string_view option, std::string_view text) {
  if (text.size() != 1 || kTypes.find(text.front()) == std::string_view::npos) {
    return fail(
        fmt::format("{}: there is no type '{}'; write d (signed), u, x, p, c, f (double) or "
                    "s (string)",
                    option, text));
  }
  return ValueType{text.front()};
}

Result<std::vector<CallValue>> read_call_values(std::string_view text) {
  std::vector<CallValue> values;
  while (true) {
    const std::string_view word = text.substr(0, text.find(','));
    const auto value = read_value("--args", trimmed(word));
    if (!value) {
      return tl::unexpected(value.error());
    }
    if (value->is_result()) {
      return fail("--args: what a function returns is --ret TYPE");
    }
    values.push_back(*value);
    if (word.size() == text.size()) {
      return values;
    }
    text.remove_prefix(word.size() + 1);
  }
}

Result<std::vector<CallCondition>> read_call_conditions(std::string_view text) {
  std::vector<CallCondition> conditions;
  while (true) {
    const std::string_view word = text.substr(0, text.find("&&"));
    const auto condition = read_condition(trimmed(word));
    if (!condition) {
      return tl::unexpected(condition.error());
    }
    conditions.push_back(*condition);
    if (word.size() == text.size()) {
      return conditions;
    }
    text.remove_prefix(word.size() + 2);
  }
}

}  // namespace sp::cli
