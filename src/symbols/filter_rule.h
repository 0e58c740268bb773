#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/whole_regex.h"

namespace sp::symbols {

/// What is known of a function. Nothing and "": not known.
struct FunctionFacts {
  std::string_view module;  // path
  std::string_view linkage_name;
  std::string_view demangled_name;
  std::string_view source_file;
  std::optional<std::uint64_t> instructions;  // of the machine
  std::optional<std::uint64_t> size;          // bytes
  std::optional<bool> xray_always;
};

/// One rule of a filters file or an attribute list. It matches a function if all conditions hold;
/// one on what is not known does not hold. Without conditions it matches every function.
struct FilterRule {
  enum class Subject : std::uint8_t { module, linkage_name, demangled_name, source_file };
  enum class Measure : std::uint8_t { instructions, size };
  struct Text {
    Subject subject = Subject::module;
    WholeRegex pattern;
  };
  struct Bound {
    Measure measure = Measure::size;
    bool is_below = true;  // false: above
    std::uint64_t limit = 0;
  };

  std::string name;
  std::vector<Text> texts{};
  std::vector<Bound> bounds{};
  std::optional<bool> xray_always{};
  bool logs_first_argument = false;

  [[nodiscard]] bool matches(const FunctionFacts& facts) const;
};

/// Rules in the order of their files.
struct FilterRules {
  std::vector<FilterRule> block;
  std::vector<FilterRule> allow;
};

/// "did you mean NEAREST?" if a known word is near to the misspelt one, else which are known.
[[nodiscard]] std::string nearest_word(std::string_view typed,
                                       const std::vector<std::string_view>& known);

}  // namespace sp::symbols
