#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/call_query.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Reads the arguments of a stopped thread that is about to execute a function's first instruction,
/// or what a function returns whose return it is about to execute.
class CallValues {
 public:
  CallValues(pid_t tid, const ptrace::Registers& registers) : tid_(tid), registers_(registers) {}

  /// As the user sees it; "?" where there is no memory.
  [[nodiscard]] std::string text(const core::CallValue& value);
  /// Nothing where there is no memory. A signed_number of 32 bits is made one of 64.
  [[nodiscard]] std::optional<std::uint64_t> word(const core::CallValue& value);
  /// False where there is no memory.
  [[nodiscard]] bool holds(const core::CallCondition& condition);

 private:
  [[nodiscard]] std::optional<double> floating(const core::CallValue& value);
  [[nodiscard]] std::string string_at(std::uint64_t address) const;

  pid_t tid_;
  const ptrace::Registers& registers_;
  std::optional<std::vector<std::byte>> floating_set_;
};

/// A word of that type; not of strings and floating-point values. Pure.
[[nodiscard]] std::string word_text(core::ValueType type, std::uint64_t word);
/// In quotes, with escapes for all that is not printable ASCII. Pure.
[[nodiscard]] std::string quoted(std::string_view bytes);
/// An int that a register holds: compilers leave its upper half 0, or anything that is no part of
/// it only if it is negative. Pure.
[[nodiscard]] std::uint64_t sign_extended(std::uint64_t word);
/// `word` compared with the condition's number. Pure.
[[nodiscard]] bool holds_for(const core::CallCondition& condition, std::uint64_t word);

}  // namespace sp::supervisor
