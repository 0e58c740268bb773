#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sp::symbols {

/// From `offset` in its code on, instructions are of this line.
struct JitLine {
  std::uint32_t offset = 0;
  std::uint32_t line = 0;
  std::uint32_t file = 0;  // a number that the reader of the dump gives

  bool operator==(const JitLine&) const = default;
};

/// A function that a JIT compiler has put at an address.
struct JitCode {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t time = 0;  // when, by the clock of its dump
  std::string name;
  std::shared_ptr<const std::vector<JitLine>> lines;  // by offset; null if there are none
};

/// All functions of a JIT compiler, with those whose memory others have got since. A function that
/// overlaps earlier ones belongs to the generation behind theirs, so that those of one generation
/// are disjoint.
class JitCodes {
 public:
  /// Functions that overlap more earlier ones than this replace those of the last generation.
  static constexpr std::size_t kMaxGenerations = 64;
  static constexpr std::uint64_t kAnyTime = std::numeric_limits<std::uint64_t>::max();

  struct Hit {
    const JitCode* code = nullptr;  // null: no function is known there
    std::uint32_t generation = 0;
  };

  /// Adds the youngest function; an empty one is ignored.
  Hit add(JitCode code);
  /// The youngest function at `address` that is not younger than `time`; if all are, the youngest.
  [[nodiscard]] Hit find(std::uint64_t address, std::uint64_t time = kAnyTime) const;
  [[nodiscard]] const JitCode* find_in(std::uint32_t generation, std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const;

 private:
  using Generation = std::map<std::uint64_t, JitCode>;  // by begin

  [[nodiscard]] static const JitCode* first_within(const Generation& codes, const JitCode& range);

  std::vector<Generation> generations_;
};

}  // namespace sp::symbols
