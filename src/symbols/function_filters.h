#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "symbols/filter_rule.h"

namespace sp::symbols {

/// Which functions are to be traced, by the rules of filters files and of XRay's attribute lists:
/// all that no block rule matches, and those that an allow rule matches.
class FunctionFilters {
 public:
  struct Verdict {
    bool is_traced = true;
    /// "default", "allow:" or "block:" with the name of the first rule that matches; of a rule of
    /// --learn its name alone.
    std::string reason = "default";
    /// An attribute list wants the first argument of each call to be logged.
    bool logs_first_argument = false;
  };

  /// No rules: everything is traced.
  FunctionFilters() = default;
  explicit FunctionFilters(FilterRules rules) : rules_(std::move(rules)) {}

  /// Reads files in this order, then lists. Errors with an errno: a file cannot be read; without:
  /// what is in it is wrong, PATH:LINE:COLUMN in front. `notes` gets what a user should know.
  [[nodiscard]] static core::Result<FunctionFilters> read(
      const std::vector<std::string>& files, const std::vector<std::string>& attribute_lists,
      std::vector<std::string>& notes);

  [[nodiscard]] Verdict judge(const FunctionFacts& facts) const;

  /// Names of rules of --learn begin so.
  static constexpr std::string_view kLearned = "learned:";
  /// How many rules of --learn are for the module and match none of its functions. `found`: the
  /// reasons of those that some rule matches.
  [[nodiscard]] std::size_t count_gone(std::string_view module,
                                       std::span<const FunctionFacts> functions,
                                       const std::set<std::string>& found) const;

  [[nodiscard]] bool is_empty() const { return rules_.block.empty() && rules_.allow.empty(); }
  /// A rule asks for what takes time to find.
  [[nodiscard]] bool needs_source_files() const;
  [[nodiscard]] bool needs_instruction_counts() const;

 private:
  template <typename Wanted>
  [[nodiscard]] bool has_rule(const Wanted& wanted) const;

  FilterRules rules_;
};

}  // namespace sp::symbols
