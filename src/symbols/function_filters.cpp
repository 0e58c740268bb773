#include "symbols/function_filters.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/fd.h"
#include "symbols/attribute_list.h"
#include "symbols/filters_file.h"

namespace sp::symbols {
namespace {

using core::Result;

/// A pipe is read, too: --filters <(generate).
Result<std::string> read_rules_text(const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{4} << 20U;
  const core::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return core::fail_errno("opening " + path);
  }
  std::string text;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t count = ::read(file.get(), some.data(), some.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return core::fail_errno("reading " + path);
    }
    if (count == 0) {
      return text;
    }
    text.append(some.data(), static_cast<std::size_t>(count));
    if (text.size() > kLargest) {
      return core::fail(fmt::format("{} is larger than 4 MiB: that is no file of rules", path));
    }
  }
}

const FilterRule* first_match(const std::vector<FilterRule>& rules, const FunctionFacts& facts) {
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [&](const FilterRule& one) { return one.matches(facts); });
  return rule == rules.end() ? nullptr : &*rule;
}

}  // namespace

Result<FunctionFilters> FunctionFilters::read(const std::vector<std::string>& files,
                                              const std::vector<std::string>& attribute_lists,
                                              std::vector<std::string>& notes) {
  FilterRules rules;
  for (const std::string& path : files) {
    const auto text = read_rules_text(path);
    const auto read = text ? read_filters_file(path, *text, rules, notes)
                           : Result<void>(tl::unexpected(text.error()));
    if (!read) {
      return tl::unexpected(read.error());
    }
  }
  for (const std::string& path : attribute_lists) {
    const auto text = read_rules_text(path);
    const auto read =
        text ? read_attribute_list(path, *text, rules) : Result<void>(tl::unexpected(text.error()));
    if (!read) {
      return tl::unexpected(read.error());
    }
  }
  return FunctionFilters(std::move(rules));
}

FunctionFilters::Verdict FunctionFilters::judge(const FunctionFacts& facts) const {
  if (const FilterRule* const rule = first_match(rules_.allow, facts)) {
    // Another rule than the first may be the one that wants the argument.
    const bool logs = std::any_of(
        rules_.allow.begin(), rules_.allow.end(),
        [&](const FilterRule& one) { return one.logs_first_argument && one.matches(facts); });
    return {true, "allow:" + rule->name, logs};
  }
  if (const FilterRule* const rule = first_match(rules_.block, facts)) {
    return {false, rule->name.starts_with(kLearned) ? rule->name : "block:" + rule->name, false};
  }
  return {};
}

std::size_t FunctionFilters::count_gone(std::string_view module,
                                        std::span<const FunctionFacts> functions,
                                        const std::set<std::string>& found) const {
  const auto is_of_module = [module](const FilterRule& rule) {
    return std::any_of(rule.texts.begin(), rule.texts.end(), [&](const FilterRule::Text& text) {
      return text.subject == FilterRule::Subject::module && text.pattern.matches(module);
    });
  };
  const auto is_gone = [&](const FilterRule& rule) {
    return rule.name.starts_with(kLearned) && !found.contains(rule.name) && is_of_module(rule) &&
           std::none_of(functions.begin(), functions.end(),
                        [&](const FunctionFacts& facts) { return rule.matches(facts); });
  };
  return static_cast<std::size_t>(std::count_if(rules_.block.begin(), rules_.block.end(), is_gone));
}

template <typename Wanted>
bool FunctionFilters::has_rule(const Wanted& wanted) const {
  return std::any_of(rules_.block.begin(), rules_.block.end(), wanted) ||
         std::any_of(rules_.allow.begin(), rules_.allow.end(), wanted);
}

bool FunctionFilters::needs_source_files() const {
  return has_rule([](const FilterRule& rule) {
    return std::any_of(rule.texts.begin(), rule.texts.end(), [](const FilterRule::Text& text) {
      return text.subject == FilterRule::Subject::source_file;
    });
  });
}

bool FunctionFilters::needs_instruction_counts() const {
  return has_rule([](const FilterRule& rule) {
    return std::any_of(rule.bounds.begin(), rule.bounds.end(), [](const FilterRule::Bound& bound) {
      return bound.measure == FilterRule::Measure::instructions;
    });
  });
}

}  // namespace sp::symbols
