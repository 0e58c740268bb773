#include "commands/xray/llvm_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace sp::xray {
namespace {

/// The position behind the bracket that closes the one at `at`; npos if none does.
std::size_t behind_closing(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

/// "1", "2", "3" -> "", "0", "1": what LLVM puts behind the word; nothing if it is no number.
std::optional<std::string> llvm_ordinal(std::string_view digits) {
  unsigned number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || number > 1'000'000) {
      return std::nullopt;
    }
    number = number * 10 + static_cast<unsigned>(digit - '0');
  }
  return number == 0   ? std::nullopt
         : number == 1 ? std::optional<std::string>("")
                       : std::optional(fmt::format("{}", number - 2));
}

/// A place in a name that is spelled otherwise.
struct Spelling {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// The first "{lambda(ARGS)#N}" from `from` on.
std::optional<Spelling> find_lambda(std::string_view name, std::size_t from) {
  constexpr std::string_view kHead = "{lambda";
  const std::size_t begin = name.find(std::string(kHead) + "(", from);
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t arguments = begin + kHead.size();
  const std::size_t behind = behind_closing(name, arguments);
  const std::size_t end = name.find('}', std::min(behind, name.size()));
  if (end == std::string_view::npos || name[behind] != '#') {
    return std::nullopt;
  }
  const auto ordinal = llvm_ordinal(name.substr(behind + 1, end - behind - 1));
  if (!ordinal) {
    return std::nullopt;
  }
  return Spelling{
      begin, end + 1,
      fmt::format("'lambda{}'{}", *ordinal, name.substr(arguments, behind - arguments))};
}

/// The first "{unnamed type#N}" from `from` on.
std::optional<Spelling> find_unnamed(std::string_view name, std::size_t from) {
  constexpr std::string_view kHead = "{unnamed type#";
  const std::size_t begin = name.find(kHead, from);
  const std::size_t end = name.find('}', std::min(begin, name.size()));
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto ordinal = llvm_ordinal(name.substr(begin + kHead.size(), end - begin - kHead.size()));
  return ordinal ? std::optional(Spelling{begin, end + 1, fmt::format("'unnamed{}'", *ordinal)})
                 : std::nullopt;
}

template <typename Find>
std::string respelled(std::string name, const Find& find) {
  std::size_t from = 0;
  while (const auto spelling = find(name, from)) {
    name.replace(spelling->begin, spelling->end - spelling->begin, spelling->text);
    from = spelling->begin + 1;  // arguments may hold others
  }
  return name;
}

enum class Quotes { none, single_quotes, double_quotes };

bool is_special_word(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords = {"null", "Null", "NULL",  "~",     "true",
                                                       "True", "TRUE", "false", "False", "FALSE"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

/// Like yaml::needsQuotes() of llvm/Support/YAMLTraits.h.
Quotes quotes_for(std::string_view text) {
  constexpr std::string_view kIndicators = R"(-?:\,[]{}#&*!|>'"%@`)";
  if (text.empty()) {
    return Quotes::single_quotes;
  }
  const bool is_number = std::isdigit(static_cast<unsigned char>(text.front())) != 0;
  const bool has_outer_blank = std::isspace(static_cast<unsigned char>(text.front())) != 0 ||
                               std::isspace(static_cast<unsigned char>(text.back())) != 0;
  Quotes needed = is_number || has_outer_blank || is_special_word(text) ||
                          kIndicators.find(text.front()) != std::string_view::npos
                      ? Quotes::single_quotes
                      : Quotes::none;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 ||
        std::string_view("_-^., \t").find(letter) != std::string_view::npos) {
      continue;
    }
    if (byte == 0x7F || byte >= 0x80 || (byte < 0x20 && letter != '\n' && letter != '\r')) {
      return Quotes::double_quotes;
    }
    needed = Quotes::single_quotes;
  }
  return needed;
}

/// Each ' is doubled.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    out += letter == '\'' ? "''" : std::string(1, letter);
  }
  return out + "'";
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '\\' || letter == '"') {
      out += fmt::format("\\{}", letter);
    } else if (letter == '\t') {
      out += "\\t";
    } else if (letter == '\n') {
      out += "\\n";
    } else if (byte < 0x20) {
      out += fmt::format("\\x{:02X}", byte);
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

}  // namespace

std::string llvm_name(std::string_view name) {
  std::string out = respelled(std::string(name), find_lambda);
  out = respelled(std::move(out), find_unnamed);
  constexpr std::string_view kClone = " [clone ";
  for (std::size_t at = out.find(kClone); at != std::string::npos; at = out.find(kClone, at)) {
    const std::size_t end = out.find(']', at);
    if (end == std::string::npos) {
      break;
    }
    out[end] = ')';
    out.replace(at, kClone.size(), " (");
  }
  return out;
}

std::string yaml_scalar(std::string_view text) {
  switch (quotes_for(text)) {
    case Quotes::none:
      return std::string(text);
    case Quotes::single_quotes:
      return single_quoted(text);
    case Quotes::double_quotes:
      return double_quoted(text);
  }
  return "";
}

}  // namespace sp::xray
