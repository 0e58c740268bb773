#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace sp::core {

/// Places in a file's code to which control may come from outside of the function that holds them,
/// other than by the function's entry. ELF addresses; each list is sorted and has no duplicates.
struct CodeReferences {
  /// Destinations of direct jumps, branches and calls: instructions begin there.
  std::vector<std::uint64_t> jumps;
  /// Destinations of direct calls, which are among `jumps`, too.
  std::vector<std::uint64_t> calls;
  /// Direct jumps and branches out of a function, and from code that is in none; sorted.
  struct Jump {
    std::uint64_t to = 0;
    std::uint64_t from = 0;

    auto operator<=>(const Jump&) const = default;
  };
  std::vector<Jump> jump_sources;
  /// The stubs in procedure linkage tables, [begin, end), in which lazy binding comes back behind
  /// the first jump.
  struct Stub {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Stub> stubs;
  /// It has ranges that the kernel compares pc with (rseq(2)): none of its code may be copied.
  bool has_restartable_sequences = false;
  /// It has instructions that set the base of the segment in which copies count, or read it.
  bool uses_counter_segment = false;
  /// Destinations of direct calls whose callers read the flags that they return.
  std::vector<std::uint64_t> flag_returners;
  /// Its stacks and the places where its threads are interrupted are managed by a runtime (Go).
  bool has_own_stacks = false;
  /// Values in the code and in data that would be addresses of code: some are just numbers.
  std::vector<std::uint64_t> pointers;
  /// Where the data begins that code names, relative to itself: among others each jump table.
  std::vector<std::uint64_t> data;
};

}  // namespace sp::core
