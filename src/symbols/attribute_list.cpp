#include "symbols/attribute_list.h"

#include <fmt/format.h>

#include <utility>

namespace sp::symbols {
namespace {

using core::Result;

enum class ListSection : std::uint8_t { none, always, never };

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Reads line by line.
class ListReader {
 public:
  ListReader(const std::string& path, FilterRules& rules) : path_(path), rules_(rules) {}

  Result<void> read_line(std::string_view line) {
    ++number_;
    line_ = line;
    const std::string_view content = without_blanks(line);
    if (content.empty() || content.starts_with('#')) {
      return {};
    }
    return content.starts_with('[') ? read_heading(content) : read_entry(content);
  }

 private:
  /// `part` is a part of the line.
  [[nodiscard]] tl::unexpected<core::Error> refuse(std::string_view part,
                                                   std::string_view what) const {
    return core::fail(
        fmt::format("{}:{}:{}: {}", path_, number_, part.data() - line_.data() + 1, what));
  }

  Result<void> read_heading(std::string_view content) {
    if (content == "[always]" || content == "[never]") {
      section_ = content == "[always]" ? ListSection::always : ListSection::never;
      return {};
    }
    return refuse(content, fmt::format("there is no section {}; {}", content,
                                       nearest_word(content, {"[always]", "[never]"})));
  }

  Result<void> read_entry(std::string_view content) {
    const std::size_t colon = content.find(':');
    const std::string_view kind = content.substr(0, colon);
    if (colon == std::string_view::npos || (kind != "fun" && kind != "src")) {
      return refuse(content, fmt::format("'{}' begins no line of an attribute list; {}", kind,
                                         nearest_word(kind, {"fun", "src"})));
    }
    if (section_ == ListSection::none) {
      return refuse(content, "a line in no section; write [always] or [never] above it");
    }
    const std::string_view rest = content.substr(colon + 1);
    const std::size_t sign = rest.find('=');
    const std::string_view glob = rest.substr(0, sign);
    FilterRule rule{fmt::format("attr-list:{}", number_)};
    if (sign != std::string_view::npos) {
      const std::string_view category = rest.substr(sign + 1);
      if (category != "arg1" || kind != "fun" || section_ != ListSection::always) {
        return refuse(
            rest.substr(sign),
            fmt::format("={} is not known here; write =arg1 behind a fun: in [always], or "
                        "leave it out",
                        category));
      }
      rule.logs_first_argument = true;
    }
    auto pattern = WholeRegex::compile_glob(glob);
    if (glob.empty() || !pattern) {
      return refuse(rest, glob.empty()
                              ? fmt::format("{0}: without a name; write {0}:NAME or {0}:*", kind)
                              : fmt::format("'{}' is no pattern of names: {}", glob,
                                            pattern.error().message()));
    }
    rule.texts.push_back(
        {kind == "fun" ? FilterRule::Subject::linkage_name : FilterRule::Subject::source_file,
         *std::move(pattern)});
    (section_ == ListSection::always ? rules_.allow : rules_.block).push_back(std::move(rule));
    return {};
  }

  const std::string& path_;
  FilterRules& rules_;
  ListSection section_ = ListSection::none;
  std::size_t number_ = 0;
  std::string_view line_;
};

}  // namespace

Result<void> read_attribute_list(const std::string& path, std::string_view text,
                                 FilterRules& rules) {
  ListReader reader(path, rules);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (auto read = reader.read_line(line); !read) {
      return read;
    }
  }
  return {};
}

}  // namespace sp::symbols
