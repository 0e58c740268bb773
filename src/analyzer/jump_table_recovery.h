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

/// Where an indirect jump goes, and the table that says so.
struct ResolvedJump {
  std::vector<core::Address> destinations;  // each once, by address
  core::AddressRange table;

  bool operator==(const ResolvedJump&) const = default;
};

/// How much may still be looked for in a function, in instructions looked at: the target stands
/// still meanwhile. Enough for some hundred switches; a jump to an address that is computed without
/// a bound, of which interpreters have as many, uses up much.
struct SearchBudget {
  std::size_t left = 50'000;

  /// False where there is not so much left.
  [[nodiscard]] bool take(std::size_t instructions) {
    left -= std::min(left, instructions);
    return left > 0;
  }
};

/// Where a function's indirect jumps go, as far as it follows from its code as `descent` knows it
/// now.
class JumpTableRecovery {
 public:
  /// All outlive this; `descent` is not to change meanwhile.
  JumpTableRecovery(const RecursiveDescent& descent, const ReadCode& read, SearchBudget& budget);

  /// Nothing where there is no table, or no bound of it on one of the predecessors_here to the
  /// jump, or an entry that leads out of the function to where no direct jump of it goes.
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
  /// Along every way that ends in `path_` (the jump first), as far back as is needed.
  [[nodiscard]] Verdict look_back();
  [[nodiscard]] Verdict judge();
  /// What a register always holds in front of an instruction, made by so many additions at most.
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
