#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "analyzer/recursive_descent.h"
#include "arch/jump_table.h"
#include "core/address.h"

namespace sp::analyzer {

/// The destinations of an indirect jump, and its jump table.
struct ResolvedJump {
  std::vector<core::Address> destinations;  // each once, by address
  core::AddressRange table;

  bool operator==(const ResolvedJump&) const = default;
};

/// Limits the search in one function, in visited instructions, because the target is stopped
/// meanwhile. Enough for some hundred switches. Jumps to computed addresses without a bound, of
/// which interpreters have as many, use up much of it.
struct SearchBudget {
  std::size_t left = 50'000;

  /// False once the budget is used up.
  [[nodiscard]] bool take(std::size_t instructions) {
    left -= std::min(left, instructions);
    return left > 0;
  }
};

/// Recovers jump tables: finds where a function's indirect jumps go, from the code that `descent`
/// has found so far.
class JumpTableRecovery {
 public:
  /// All must outlive this; `descent` must not change meanwhile.
  JumpTableRecovery(const RecursiveDescent& descent, const ReadCode& read, SearchBudget& budget);

  /// Nothing if there is no table, if a path to the jump has no bounds check, or if an entry leads
  /// out of the function to where none of its direct jumps goes.
  [[nodiscard]] std::optional<ResolvedJump> resolve(RecursiveDescent::Offset jump);

 private:
  using Offset = RecursiveDescent::Offset;
  struct Verdict {
    std::optional<arch::JumpTable> table;
    bool is_checked = false;
  };

  [[nodiscard]] std::vector<Offset> predecessors(Offset at) const;
  [[nodiscard]] std::optional<Offset> fallthrough_predecessor(Offset at) const;
  [[nodiscard]] arch::PathInstruction instruction_at(Offset at) const;
  /// Searches all paths that end in `path_` (which begins with the jump), as far back as needed.
  [[nodiscard]] Verdict search_back();
  [[nodiscard]] Verdict try_path();
  /// The constant that a register always holds before an instruction, after at most so many
  /// additions.
  [[nodiscard]] std::optional<std::uint64_t> constant_before(Offset at, unsigned reg, int steps);
  [[nodiscard]] std::optional<std::uint64_t> find_constant_before(Offset at, unsigned reg,
                                                                  int steps);
  [[nodiscard]] arch::RegisterEffect effect(Offset at, unsigned reg);
  [[nodiscard]] std::optional<ResolvedJump> read_table(const arch::JumpTable& table);

  const RecursiveDescent& descent_;
  const ReadCode& read_;
  SearchBudget& budget_;
  std::unordered_set<core::Address> elsewhere_;
  std::unordered_multimap<Offset, Offset> jumps_to_;
  std::unordered_map<std::uint64_t, arch::RegisterEffect> effects_;
  std::unordered_map<std::uint64_t, std::optional<std::uint64_t>> constants_;
  std::vector<Offset> path_;
  int paths_left_ = 0;
};

}  // namespace sp::analyzer
