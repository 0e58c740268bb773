#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/recursive_descent.h"
#include "arch/jump_table.h"
#include "core/address.h"

namespace sp::analyzer {

/// Limits the search in one function, in visited instructions, because the target is stopped
/// meanwhile. Enough for some hundred switches. Jumps to computed addresses without a bound, of
/// which interpreters have as many, use up much of it.
struct SearchBudget {
  std::size_t left = kUsual;
  static constexpr std::size_t kUsual = 50'000;
  /// Once for each function that is to run from a copy.
  static constexpr std::size_t kLarge = 100'000;

  /// False once the budget is used up.
  [[nodiscard]] bool take(std::size_t instructions) {
    left -= std::min(left, instructions);
    return left > 0;
  }
};

/// Recovers jump tables: finds which tables a function's indirect jumps read, from the code that
/// `descent` has found so far.
class JumpTableRecovery {
 public:
  enum class Proof : std::uint8_t {
    /// Of a table of distances from itself neither its end need be known nor what the register with
    /// its address holds on all paths. No compiler makes one jump of two such tables, so that paths
    /// on which the register holds something else are none: they lead through a call that never
    /// returns.
    guesses,
    usual,
    /// On no path does that register hold what it did where control came in. The number of entries
    /// may be larger than the table's: a limit that the index's type gives.
    certain,
  };

  /// All must outlive this; `descent` must not change meanwhile.
  JumpTableRecovery(const RecursiveDescent& descent, SearchBudget& budget, Proof proof);

  /// Nothing if there is no table, or a path to the jump has no bounds check. With guesses
  /// `entries` is 0 where there is none.
  [[nodiscard]] std::optional<arch::JumpTable> find(RecursiveDescent::Offset jump);
  /// The instruction in front of the jump, or the jump, that reads the table: its register for the
  /// index is the entry's number. Nothing where that is not certain.
  [[nodiscard]] std::optional<RecursiveDescent::Offset> find_load(RecursiveDescent::Offset jump,
                                                                  const arch::JumpTable& table);

 private:
  using Offset = RecursiveDescent::Offset;
  struct Verdict {
    std::optional<arch::JumpTable> table;
    bool is_checked = false;
  };
  struct Constant {
    std::uint64_t value = 0;
    bool is_guess = false;        // other paths set the register to something that is not known
    bool may_be_callers = false;  // on other paths it holds what it did where control came in
  };

  /// Adds the instructions from which control may reach `at`.
  void add_predecessors(Offset at, std::vector<Offset>& found) const;
  [[nodiscard]] std::vector<Offset> predecessors(Offset at) const;
  [[nodiscard]] std::optional<Offset> fallthrough_predecessor(Offset at) const;
  [[nodiscard]] arch::PathInstruction instruction_at(Offset at) const;
  /// Searches all paths that end in `path_` (which begins with the jump), as far back as needed.
  [[nodiscard]] Verdict search_back();
  [[nodiscard]] Verdict try_path();
  [[nodiscard]] Verdict guess(const arch::JumpOnPath& said, bool is_guess) const;
  /// The constant that a register always holds before an instruction, after at most so many
  /// additions.
  [[nodiscard]] std::optional<Constant> constant_before(Offset at, unsigned reg, int steps);
  [[nodiscard]] std::optional<Constant> find_constant_before(Offset at, unsigned reg, int steps);
  [[nodiscard]] arch::RegisterEffect effect(Offset at, unsigned reg);

  /// What a search has visited. Searches follow one another often, so that nothing is cleared.
  class Visited {
   public:
    void begin(std::size_t offsets) {
      marks_.resize(offsets);
      ++search_;
      count_ = 0;
    }
    /// False if it was there.
    bool insert(Offset at) {
      const bool is_new = std::exchange(marks_.at(at), search_) != search_;
      count_ += is_new ? 1 : 0;
      return is_new;
    }
    [[nodiscard]] std::size_t count() const { return count_; }

   private:
    std::vector<std::uint32_t> marks_;  // the last search that was there
    std::uint32_t search_ = 0;
    std::size_t count_ = 0;
  };
  enum class Effect : std::uint8_t { unknown, none, other };
  static constexpr int kMostAdditions = 3;

  const RecursiveDescent& descent_;
  SearchBudget& budget_;
  bool guesses_;
  bool is_certain_;
  std::vector<RecursiveDescent::Edge> jumps_to_;  // by destination
  std::vector<std::vector<Effect>> effects_;      // by register and offset
  std::unordered_map<std::uint64_t, arch::RegisterEffect> other_effects_;
  std::array<Visited, kMostAdditions + 1> visited_;  // by additions left
  std::unordered_map<std::uint64_t, std::optional<Constant>> constants_;
  std::vector<Offset> path_;
  int paths_left_ = 0;
};

}  // namespace sp::analyzer
