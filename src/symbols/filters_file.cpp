#include "symbols/filters_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/toml.h"

namespace sp::symbols {
namespace {

using core::Result;
using Subject = FilterRule::Subject;
using Measure = FilterRule::Measure;

struct TextKey {
  std::string_view name;
  Subject subject;
};
constexpr auto kTextKeys = std::to_array<TextKey>({
    {"source_file_path", Subject::source_file},
    {"function_demangled_name", Subject::demangled_name},
    {"function_linkage_name", Subject::linkage_name},
    {"module", Subject::module},
});

struct BoundKey {
  std::string_view name;
  Measure measure;
  bool is_below;
};
constexpr auto kBoundKeys = std::to_array<BoundKey>({
    {"function_instruction_count_lt", Measure::instructions, true},
    {"function_instruction_count_gt", Measure::instructions, false},
    {"function_size_lt", Measure::size, true},
    {"function_size_gt", Measure::size, false},
});

/// Spoor's key, ours, and what the reader has to know.
struct Synonym {
  std::string_view theirs;
  std::string_view ours;
  std::string_view note;
};
constexpr auto kSynonyms = std::to_array<Synonym>({
    {"function_ir_instruction_count_lt", "function_instruction_count_lt",
     ", and counts machine instructions"},
    {"function_ir_instruction_count_gt", "function_instruction_count_gt",
     ", and counts machine instructions"},
    {"demangled_name", "function_demangled_name", ""},
});

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> names{"rule_name", "xray_always"};
  for (const TextKey& key : kTextKeys) {
    names.push_back(key.name);
  }
  for (const BoundKey& key : kBoundKeys) {
    names.push_back(key.name);
  }
  return names;
}

class FiltersReader {
 public:
  FiltersReader(const std::string& path, FilterRules& rules, std::vector<std::string>& notes)
      : path_(path), rules_(rules), notes_(notes) {}

  Result<void> read(std::string_view text) {
    const auto table = core::parse_toml(text);
    if (!table) {
      const core::TomlError& error = table.error();
      return core::fail(fmt::format("{}:{}:{}: {}", path_, error.line, error.column, error.what));
    }
    for (const auto& [key, node] : *table) {
      if (auto read = read_kind(key, node); !read) {
        return read;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::string place(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", path_, source.begin.line, source.begin.column);
  }
  [[nodiscard]] tl::unexpected<core::Error> refuse(const toml::source_region& source,
                                                   std::string_view what) const {
    return core::fail(fmt::format("{}: {}", place(source), what));
  }

  Result<void> read_kind(const toml::key& key, const toml::node& node) {
    const std::string_view kind = key.str();
    if (kind != "block" && kind != "allow") {
      return refuse(key.source(), fmt::format("there is no '{}' in a filters file; {}", kind,
                                              nearest_word(kind, {"block", "allow"})));
    }
    const toml::array* const tables = node.as_array();
    if (tables == nullptr) {
      return refuse(key.source(), fmt::format("{0} is a list of rules; write [[{0}]]", kind));
    }
    std::vector<FilterRule>& rules = kind == "block" ? rules_.block : rules_.allow;
    for (const toml::node& one : *tables) {
      const toml::table* const table = one.as_table();
      if (table == nullptr) {
        return refuse(one.source(), fmt::format("{0} is a list of rules; write [[{0}]]", kind));
      }
      FilterRule rule{fmt::format("{}#{}", kind, rules.size() + 1)};
      if (auto read = read_rule(*table, rule); !read) {
        return read;
      }
      rules.push_back(std::move(rule));
    }
    return {};
  }

  Result<void> read_rule(const toml::table& table, FilterRule& rule) {
    std::set<std::string_view> seen;
    for (const auto& [key, node] : table) {
      const std::string_view name = understood(key);
      if (!seen.insert(name).second) {
        return refuse(
            key.source(),
            fmt::format("{} stands in the rule twice, once as Spoor spells it; remove one", name));
      }
      if (auto read = read_condition(key, name, node, rule); !read) {
        return read;
      }
    }
    return {};
  }

  /// Our spelling of a key.
  std::string_view understood(const toml::key& key) {
    const auto synonym = std::find_if(kSynonyms.begin(), kSynonyms.end(),
                                      [&](const Synonym& one) { return one.theirs == key.str(); });
    if (synonym == kSynonyms.end()) {
      return key.str();
    }
    notes_.push_back(fmt::format("{}: {} is read as {}{}", place(key.source()), synonym->theirs,
                                 synonym->ours, synonym->note));
    return synonym->ours;
  }

  Result<void> read_condition(const toml::key& key, std::string_view name, const toml::node& node,
                              FilterRule& rule) const {
    const auto text_key = std::find_if(kTextKeys.begin(), kTextKeys.end(),
                                       [&](const TextKey& one) { return one.name == name; });
    if (text_key != kTextKeys.end()) {
      return read_text(*text_key, node, rule);
    }
    const auto bound_key = std::find_if(kBoundKeys.begin(), kBoundKeys.end(),
                                        [&](const BoundKey& one) { return one.name == name; });
    if (bound_key != kBoundKeys.end()) {
      return read_bound(*bound_key, node, rule);
    }
    if (name == "rule_name") {
      const auto value = node.value_exact<std::string>();
      if (!value || value->empty()) {
        return refuse(node.source(), R"(rule_name takes a text; write rule_name = "NAME")");
      }
      rule.name = *value;
      return {};
    }
    if (name == "xray_always") {
      rule.xray_always = node.value_exact<bool>();
      if (!rule.xray_always) {
        return refuse(node.source(), "xray_always takes true or false, without quotes");
      }
      return {};
    }
    return refuse(key.source(), fmt::format("a rule has no key '{}'; {}", name,
                                            nearest_word(name, known_keys())));
  }

  Result<void> read_text(const TextKey& key, const toml::node& node, FilterRule& rule) const {
    const auto pattern = node.value_exact<std::string>();
    if (!pattern) {
      return refuse(node.source(),
                    fmt::format("{0} takes a regular expression; write {0} = '.*'", key.name));
    }
    auto compiled = WholeRegex::compile(*pattern);
    if (!compiled) {
      return refuse(node.source(), fmt::format("{}: '{}' is no regular expression: {}", key.name,
                                               *pattern, compiled.error().message()));
    }
    rule.texts.push_back({key.subject, *std::move(compiled)});
    return {};
  }

  Result<void> read_bound(const BoundKey& key, const toml::node& node, FilterRule& rule) const {
    const auto limit = node.value_exact<std::int64_t>();
    if (!limit || *limit < 0) {
      return refuse(node.source(),
                    fmt::format("{0} takes a whole number from 0 on; write {0} = 16", key.name));
    }
    rule.bounds.push_back({key.measure, key.is_below, static_cast<std::uint64_t>(*limit)});
    return {};
  }

  const std::string& path_;
  FilterRules& rules_;
  std::vector<std::string>& notes_;
};

}  // namespace

Result<void> read_filters_file(const std::string& path, std::string_view text, FilterRules& rules,
                               std::vector<std::string>& notes) {
  return FiltersReader(path, rules, notes).read(text);
}

}  // namespace sp::symbols
