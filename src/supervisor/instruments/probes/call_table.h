#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/call_counts.h"
#include "core/ids.h"

namespace sp::supervisor {

/// Sums calls by what CallQuery asks of them, for one address space. A call gets a number when it
/// begins, and counts when all that is asked is known. Memory is bounded. Pure.
class CallTable {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16U;  // numbers, and groups
  /// The number of calls that are not counted.
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  /// Of calls that found no room.
  static constexpr std::uint32_t kUngrouped = kNone - 1;

  /// What is known when a call begins.
  struct Beginning {
    core::Address function;
    core::Address caller{};
    core::ThreadId thread{};
    std::vector<std::string> values{};  // "" where only the return tells
  };
  /// What is known when it counts.
  struct Ending {
    std::span<const std::string> results{};  // for the values that were left open, in their order
    std::optional<std::uint64_t> measured{};
    bool is_tail_call = false;
  };

  /// `open`: the places of those values that only the return tells. `is_signed`: what is measured.
  CallTable() = default;
  CallTable(std::vector<std::size_t> open, bool is_signed)
      : open_(std::move(open)), is_signed_(is_signed) {}

  /// For a forked child.
  [[nodiscard]] CallTable empty_copy() const { return {open_, is_signed_}; }

  [[nodiscard]] std::uint32_t begin(Beginning beginning);
  /// A call with that number counts.
  void count(std::uint32_t number, const Ending& ending);

  [[nodiscard]] bool has_news() const { return has_news_; }
  /// What was counted since the last call.
  [[nodiscard]] core::CallGroups<core::Address> take();

 private:
  struct Group {
    std::uint32_t beginning = 0;
    std::vector<std::string> results;
    std::uint64_t calls = 0;
    std::uint64_t tail_calls = 0;
    core::ValueHistogram measured;
  };

  [[nodiscard]] Group* group_of(std::uint32_t number, std::span<const std::string> results);

  std::vector<std::size_t> open_;
  bool is_signed_ = false;
  std::vector<Beginning> beginnings_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, std::uint32_t> group_numbers_;
  std::uint64_t ungrouped_ = 0;
  bool has_news_ = false;
};

}  // namespace sp::supervisor
