#include "analyzer/jump_table_recovery.h"

#include <algorithm>
#include <utility>

#include "arch/native.h"

namespace sp::analyzer {
namespace {

// A check further away, or behind more forks, is not found: the jump is then unresolved.
constexpr std::size_t kLongestPath = 64;
constexpr int kMostPaths = 64;
constexpr std::size_t kMostVisited = 20000;
constexpr std::size_t kLongestInstruction = 15;

}  // namespace

JumpTableRecovery::JumpTableRecovery(const RecursiveDescent& descent, SearchBudget& budget,
                                     Proof proof)
    : descent_(descent),
      budget_(budget),
      guesses_(proof == Proof::guesses),
      is_certain_(proof == Proof::certain),
      jumps_to_(descent.edges()) {
  std::stable_sort(jumps_to_.begin(), jumps_to_.end(),
                   [](const auto& a, const auto& b) { return a.to < b.to; });
}

arch::PathInstruction JumpTableRecovery::instruction_at(Offset at) const {
  return {descent_.address_of(at), descent_.code().subspan(at, descent_.length_at(at))};
}

std::optional<JumpTableRecovery::Offset> JumpTableRecovery::fallthrough_predecessor(
    Offset at) const {
  for (Offset length = 1; length <= std::min<Offset>(at, kLongestInstruction); ++length) {
    if (!descent_.is_instruction(at - length)) {
      continue;
    }
    const core::Flow flow = descent_.flow_at(at - length);
    const bool goes_on = !core::ends_block(flow) || flow == core::Flow::branch ||
                         flow == core::Flow::call || flow == core::Flow::indirect_call;
    return goes_on && descent_.length_at(at - length) == length ? std::optional(at - length)
                                                                : std::nullopt;
  }
  return std::nullopt;
}

void JumpTableRecovery::add_predecessors(Offset at, std::vector<Offset>& found) const {
  const auto before = static_cast<std::ptrdiff_t>(found.size());
  if (const auto straight = fallthrough_predecessor(at)) {
    found.push_back(*straight);
  }
  if (!descent_.is_leader(at)) {
    return;
  }
  auto edge = std::lower_bound(jumps_to_.begin(), jumps_to_.end(), at,
                               [](const auto& one, Offset to) { return one.to < to; });
  for (; edge != jumps_to_.end() && edge->to == at; ++edge) {
    if (std::find(found.begin() + before, found.end(), edge->from) == found.end()) {
      found.push_back(edge->from);
    }
  }
}

std::vector<JumpTableRecovery::Offset> JumpTableRecovery::predecessors(Offset at) const {
  std::vector<Offset> found;
  add_predecessors(at, found);
  return found;
}

std::optional<arch::JumpTable> JumpTableRecovery::find(Offset jump) {
  path_.assign(1, jump);
  paths_left_ = kMostPaths;
  return search_back().table;
}

std::optional<JumpTableRecovery::Offset> JumpTableRecovery::find_load(
    Offset jump, const arch::JumpTable& table) {
  constexpr int kFurthest = 16;
  Offset at = jump;
  for (int i = 0; i < kFurthest; ++i) {
    const auto operand = arch::Native::indexed_operand(instruction_at(at));
    if (operand && operand->scale == table.entry_size) {
      const auto base = operand->base ? constant_before(at, *operand->base, kMostAdditions)
                                      : std::optional(Constant{});
      const bool is_certain = base && !base->is_guess && !base->may_be_callers;
      const std::uint64_t place = is_certain ? base->value + operand->displacement : 0;
      if (is_certain && place == table.first.value()) {
        return at;
      }
    }
    const auto before = descent_.is_leader(at) ? std::nullopt : fallthrough_predecessor(at);
    if (!before) {
      return std::nullopt;
    }
    at = *before;
  }
  return std::nullopt;
}

JumpTableRecovery::Verdict JumpTableRecovery::search_back() {
  const std::size_t length = path_.size();
  Verdict here;
  bool was_tried = false;
  std::vector<Offset> sources = predecessors(path_.back());
  while (sources.size() == 1 && path_.size() < kLongestPath) {
    const bool is_fork = core::ends_block(descent_.flow_at(sources.front()));
    path_.push_back(sources.front());
    if (is_fork) {
      const Verdict longer = try_path();
      here = longer.table || !guesses_ ? longer : here;
      was_tried = true;
      if (here.is_checked) {
        path_.resize(length);
        return here;
      }
    }
    sources = predecessors(path_.back());
  }
  if (!was_tried || sources.size() != 1) {
    const Verdict longer = try_path();
    here = longer.table || !guesses_ ? longer : here;
  }
  if (here.is_checked || sources.size() < 2 || path_.size() >= kLongestPath) {
    path_.resize(length);
    return here;
  }
  Verdict all;
  for (const Offset source : sources) {
    Verdict one;
    if (paths_left_-- > 0) {
      path_.push_back(source);
      one = search_back();
      path_.pop_back();
    }
    if (!one.table || (all.table && (one.table->first != all.table->first ||
                                     one.table->base != all.table->base))) {
      path_.resize(length);
      return here.table ? here : Verdict{};
    }
    const bool is_first = !all.table;
    const std::uint64_t entries = is_first ? one.table->entries : all.table->entries;
    const bool is_bounded = entries != 0 && one.table->entries != 0;
    all = {one.table, one.is_checked && (is_first || all.is_checked)};
    all.table->entries = is_bounded ? std::max(entries, one.table->entries) : 0;
  }
  path_.resize(length);
  return all;
}

JumpTableRecovery::Verdict JumpTableRecovery::try_path() {
  if (!budget_.take(path_.size())) {
    return {};
  }
  std::vector<arch::PathInstruction> steps;
  steps.reserve(path_.size());
  for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
    steps.push_back(instruction_at(*at));
  }
  std::vector<arch::KnownRegister> known;
  bool is_guess = false;
  bool may_be_callers = false;
  constexpr std::size_t kMostWanted = 3;
  while (true) {
    const arch::JumpOnPath said = arch::Native::jump_on_path(steps, known);
    if (said.table && may_be_callers && (is_certain_ || said.table->entry_size == 0)) {
      return {};  // a place, not a table: it may be another one
    }
    if (is_certain_ && said.table && said.table->entries != 0) {
      return {said.table, true};  // a smaller bound need not be found
    }
    if (said.table || said.unbounded || !said.wanted || known.size() >= kMostWanted) {
      return guesses_ ? guess(said, is_guess) : Verdict{said.table, said.table && said.is_checked};
    }
    const auto constant = constant_before(path_.back(), *said.wanted, kMostAdditions);
    if (!constant) {
      return {};
    }
    is_guess = is_guess || constant->is_guess;
    may_be_callers = may_be_callers || constant->may_be_callers;
    known.emplace_back(*said.wanted, constant->value);
  }
}

/// What is not certain of a table of distances from itself is left to its reader.
JumpTableRecovery::Verdict JumpTableRecovery::guess(const arch::JumpOnPath& said,
                                                    bool is_guess) const {
  if (said.table && !is_guess && descent_.bounds().contains(said.table->base)) {
    return {said.table, said.is_checked};  // distances from a label of the function
  }
  const bool is_relative = said.table && said.table->is_relative_to_itself();
  if (said.unbounded && !is_relative && !(said.table && said.is_checked)) {
    return {said.unbounded, false};
  }
  return is_guess && !is_relative ? Verdict{} : Verdict{said.table, said.table && said.is_checked};
}

arch::RegisterEffect JumpTableRecovery::effect(Offset at, unsigned reg) {
  if (effects_.size() <= reg) {
    effects_.resize(reg + 1);
  }
  std::vector<Effect>& known = effects_[reg];
  known.resize(descent_.bounds().size());
  const std::uint64_t key = std::uint64_t{at} << 8U | reg;
  if (known.at(at) == Effect::unknown) {
    const arch::RegisterEffect found = arch::Native::effect_on(instruction_at(at), reg);
    const bool is_none = !found.changes && !found.constant && !found.added_to;
    known[at] = is_none ? Effect::none : Effect::other;
    if (!is_none) {
      other_effects_.emplace(key, found);
    }
  }
  return known[at] == Effect::none ? arch::RegisterEffect{} : other_effects_.at(key);
}

std::optional<JumpTableRecovery::Constant> JumpTableRecovery::constant_before(Offset at,
                                                                              unsigned reg,
                                                                              int steps) {
  const std::uint64_t key =
      std::uint64_t{at} << 16U | reg << 8U | static_cast<std::uint64_t>(steps);
  const auto known = constants_.find(key);
  return known != constants_.end()
             ? known->second
             : constants_.emplace(key, find_constant_before(at, reg, steps)).first->second;
}

// Finds all instructions that may have written the register last; all must leave the same constant.
// At the function's entry the register holds a value of the caller's, which no switch uses as its
// table.
std::optional<JumpTableRecovery::Constant> JumpTableRecovery::find_constant_before(Offset at,
                                                                                   unsigned reg,
                                                                                   int steps) {
  std::optional<Constant> constant;
  bool is_guess = false;
  bool may_be_callers = descent_.is_entry(at);
  Visited& seen = visited_.at(static_cast<std::size_t>(steps));
  seen.begin(descent_.bounds().size());
  std::vector<Offset> open = predecessors(at);
  while (!open.empty()) {
    const Offset now = open.back();
    open.pop_back();
    if (!seen.insert(now)) {
      continue;
    }
    arch::RegisterEffect found = effect(now, reg);
    if (found.added_to && found.constant) {
      // Some CPUs need more than one instruction for an address.
      const auto before_that =
          steps > 1 ? constant_before(now, *found.added_to, steps - 1) : std::nullopt;
      found.constant =
          before_that ? std::optional(*found.constant + before_that->value) : std::nullopt;
      is_guess = is_guess || (before_that && before_that->is_guess);
      may_be_callers = may_be_callers || (before_that && before_that->may_be_callers);
    }
    if (found.changes && !found.constant && guesses_) {
      is_guess = true;
      continue;
    }
    if (found.changes && (!found.constant || (constant && constant->value != *found.constant))) {
      return std::nullopt;
    }
    if (found.changes) {
      constant = Constant{*found.constant};
      continue;
    }
    if (seen.count() > kMostVisited || !budget_.take(1)) {
      return std::nullopt;
    }
    may_be_callers = may_be_callers || descent_.is_entry(now);
    add_predecessors(now, open);
  }
  if (constant) {
    constant->is_guess = is_guess;
    constant->may_be_callers = may_be_callers;
  }
  return constant;
}

}  // namespace sp::analyzer
