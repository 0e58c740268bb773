#include "supervisor/instruments/probes/call_values.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "arch/native.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

using arch::Native;
using core::Address;
using core::CallValue;
using core::ValueType;

std::uint64_t sign_extended(std::uint64_t word) {
  constexpr std::uint64_t kUpperHalf = ~std::uint64_t{0} << 32U;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 31U;
  return (word & kUpperHalf) == 0 && (word & kSign) != 0 ? word | kUpperHalf : word;
}

std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (c < ' ' || c > '~') {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string word_text(ValueType type, std::uint64_t word) {
  switch (type) {
    case ValueType::signed_number:
      return fmt::format("{}", static_cast<std::int64_t>(sign_extended(word)));
    case ValueType::hexadecimal:
    case ValueType::pointer:
      return fmt::format("{:#x}", word);
    case ValueType::character: {
      const char c = static_cast<char>(word);
      std::string text = c == '"' ? "\"\"\"" : quoted({&c, 1});
      text.front() = '\'';
      text.back() = '\'';
      return text;
    }
    case ValueType::unsigned_number:
    case ValueType::floating:
    case ValueType::text:
      break;
  }
  return fmt::format("{}", word);
}

bool holds_for(const core::CallCondition& condition, std::uint64_t word) {
  using Is = core::CallCondition::Is;
  const bool is_signed = condition.value.type == ValueType::signed_number;
  const auto a = static_cast<std::int64_t>(word);
  const auto b = static_cast<std::int64_t>(condition.number);
  const bool is_less = is_signed ? a < b : word < condition.number;
  const bool is_equal = word == condition.number;
  switch (condition.is) {
    case Is::equal:
      return is_equal;
    case Is::unequal:
      return !is_equal;
    case Is::less:
      return is_less;
    case Is::at_most:
      return is_less || is_equal;
    case Is::greater:
      return !is_less && !is_equal;
    case Is::at_least:
      return !is_less;
    case Is::has_bits:
      return (word & condition.number) != 0;
  }
  return false;
}

/// The word of a value of fewer bytes: what is above them in a register is not of it.
std::uint64_t widened(std::uint64_t word, const CallValue& value) {
  constexpr unsigned kBits = 64;
  const unsigned above = kBits - 8U * value.bytes;
  const std::uint64_t shifted = word << above;
  return value.type == ValueType::signed_number || value.type == ValueType::character
             ? static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) >> above)
             : shifted >> above;
}

std::optional<double> CallValues::floating(const CallValue& value) {
  if (!floating_set_) {
    auto set = ptrace::register_set(tid_, NT_PRFPREG);
    floating_set_ = set ? std::move(*set) : std::vector<std::byte>{};
  }
  const auto number =
      Native::floating_value(*floating_set_, value.is_result() ? 0 : value.argument - 1);
  if (number && value.bytes == sizeof(float)) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(*number)));
  }
  return number;
}

std::optional<std::uint64_t> CallValues::word(const CallValue& value) {
  ThreadMemory memory(tid_);
  const auto word = value.is_result() ? Native::result(registers_)
                                      : Native::argument(registers_, value.argument - 1, memory);
  if (word && value.bytes > 0 && value.bytes < sizeof(*word)) {
    return widened(*word, value);
  }
  const bool may_be_int = value.type == ValueType::signed_number && value.bytes == 0;
  return word && may_be_int ? sign_extended(*word) : word;
}

std::string CallValues::text(const CallValue& value) {
  if (value.type == ValueType::floating) {
    const auto number = floating(value);
    return number ? fmt::format("{}", *number) : "?";
  }
  const auto read = word(value);
  if (!read) {
    return "?";
  }
  if (value.type == ValueType::signed_number && value.bytes == sizeof(*read)) {
    return fmt::format("{}", static_cast<std::int64_t>(*read));  // a long is no int
  }
  return value.type == ValueType::text ? string_at(*read) : word_text(value.type, *read);
}

std::string CallValues::string_at(std::uint64_t address) const {
  constexpr std::size_t kMost = 64;
  constexpr std::uint64_t kPage = 4096;
  if (address == 0) {
    return "NULL";
  }
  ThreadMemory memory(tid_);
  std::array<std::byte, kMost> bytes{};
  // What lies on the next page may not be there.
  const auto first =
      static_cast<std::size_t>(std::min<std::uint64_t>(kMost, kPage - address % kPage));
  std::size_t size = first;
  if (!memory.read(Address{address}, std::span(bytes).first(first))) {
    return "?";
  }
  const auto has_end = [&] {
    return std::find(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                     std::byte{0}) != bytes.begin() + static_cast<std::ptrdiff_t>(size);
  };
  if (!has_end() && first < kMost &&
      memory.read(Address{address} + first, std::span(bytes).subspan(first))) {
    size = kMost;
  }
  std::string text;
  for (std::size_t i = 0; i < size && bytes.at(i) != std::byte{0}; ++i) {
    text += static_cast<char>(bytes.at(i));
  }
  return quoted(text) + (has_end() ? "" : "..");
}

bool CallValues::holds(const core::CallCondition& condition) {
  const auto read = word(condition.value);
  return read && holds_for(condition, *read);
}

}  // namespace sp::supervisor
