#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What is asked of each call of a function (`superprofiler count`).
namespace sp::core {

/// How a word is to be read, by the letter that the user writes.
enum class ValueType : char {
  signed_number = 'd',
  unsigned_number = 'u',
  hexadecimal = 'x',
  pointer = 'p',
  character = 'c',
  floating = 'f',  // double
  text = 's',      // a pointer to a string that a 0 ends
};

/// Where a value comes from.
struct CallValue {
  /// From 1, and of floating-point arguments among those alone; 0: what the function returns.
  unsigned argument = 0;
  ValueType type = ValueType::signed_number;
  /// Of the value, the rest of its word is not valid; 0: not known.
  std::uint8_t bytes = 0;
  /// Of the parameter; "" if the user has numbered it.
  std::string name{};
  /// False: the type is that of the parameter `name`.
  bool has_type = true;

  /// In place of `argument`, until debug information tells it.
  static constexpr unsigned kByName = ~0U;

  [[nodiscard]] bool is_result() const { return argument == 0; }
  [[nodiscard]] bool is_by_name() const { return argument == kByName; }
};

/// A call counts where this holds.
struct CallCondition {
  enum class Is : std::uint8_t { equal, unequal, less, at_most, greater, at_least, has_bits };

  CallValue value;
  Is is = Is::equal;
  /// Of a signed_number: two's complement.
  std::uint64_t number = 0;
};

/// Calls with the same function, values, caller and thread are one group.
struct CallQuery {
  static constexpr unsigned kMostArguments = 16;
  static constexpr unsigned kMostFloating = 8;

  std::vector<CallValue> values;
  bool by_caller = false;
  bool by_thread = false;
  /// Of whose values each group has a histogram; with `has_durations`: of how long calls take.
  std::optional<CallValue> measured;
  bool has_durations = false;
  std::vector<CallCondition> conditions;  // all of them must hold

  /// Only how often functions are called.
  [[nodiscard]] bool is_plain() const {
    return values.empty() && !by_caller && !by_thread && !measured && !has_durations &&
           conditions.empty();
  }
  /// Something is not known before the function returns.
  [[nodiscard]] bool needs_returns() const {
    bool needs = has_durations || (measured && measured->is_result());
    for (const CallValue& value : values) {
      needs = needs || value.is_result();
    }
    for (const CallCondition& condition : conditions) {
      needs = needs || condition.value.is_result();
    }
    return needs;
  }
};

}  // namespace sp::core
