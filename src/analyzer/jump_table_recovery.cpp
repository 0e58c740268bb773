#include "analyzer/jump_table_recovery.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "arch/native.h"

namespace sp::analyzer {
namespace {

// A check further away, or behind more forks, is not found: the jump is then unresolved.
constexpr std::size_t kLongestPath = 64;
constexpr int kMostPaths = 64;
constexpr std::size_t kMostVisited = 20000;
constexpr int kMostAdditions = 3;
constexpr std::size_t kLongestInstruction = 15;

std::uint64_t entry_of(std::span<const std::byte> bytes, bool is_signed) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8U * i);
  }
  const std::uint64_t sign = std::uint64_t{1} << (8U * bytes.size() - 1U);
  return is_signed ? (value ^ sign) - sign : value;
}

}  // namespace

JumpTableRecovery::JumpTableRecovery(const RecursiveDescent& descent, const ReadCode& read,
                                     SearchBudget& budget)
    : descent_(descent),
      read_(read),
      budget_(budget),
      elsewhere_(descent.transfers().begin(), descent.transfers().end()) {
  for (const RecursiveDescent::Edge& edge : descent.edges()) {
    jumps_to_.emplace(edge.to, edge.from);
  }
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

/// The instructions from which control may reach `at`.
std::vector<JumpTableRecovery::Offset> JumpTableRecovery::predecessors(Offset at) const {
  std::vector<Offset> found;
  if (const auto straight = fallthrough_predecessor(at)) {
    found.push_back(*straight);
  }
  if (descent_.is_leader(at)) {
    const auto [begin, end] = jumps_to_.equal_range(at);
    for (auto edge = begin; edge != end; ++edge) {
      if (std::find(found.begin(), found.end(), edge->second) == found.end()) {
        found.push_back(edge->second);
      }
    }
  }
  return found;
}

std::optional<ResolvedJump> JumpTableRecovery::resolve(Offset jump) {
  path_.assign(1, jump);
  paths_left_ = kMostPaths;
  const Verdict verdict = search_back();
  return verdict.table ? read_table(*verdict.table) : std::nullopt;
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
      here = try_path();
      was_tried = true;
      if (here.is_checked) {
        path_.resize(length);
        return here;
      }
    }
    sources = predecessors(path_.back());
  }
  if (!was_tried || sources.size() != 1) {
    here = try_path();
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
    const std::uint64_t entries = is_first ? 0 : all.table->entries;
    all = {one.table, one.is_checked && (is_first || all.is_checked)};
    all.table->entries = std::max(entries, one.table->entries);
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
  constexpr std::size_t kMostWanted = 3;
  while (true) {
    const arch::JumpOnPath said = arch::Native::jump_on_path(steps, known);
    if (said.table || !said.wanted || known.size() >= kMostWanted) {
      return {said.table, said.table && said.is_checked};
    }
    const auto constant = constant_before(path_.back(), *said.wanted, kMostAdditions);
    if (!constant) {
      return {};
    }
    known.emplace_back(*said.wanted, *constant);
  }
}

arch::RegisterEffect JumpTableRecovery::effect(Offset at, unsigned reg) {
  const std::uint64_t key = std::uint64_t{at} << 8U | reg;
  const auto known = effects_.find(key);
  return known != effects_.end()
             ? known->second
             : effects_.emplace(key, arch::Native::effect_on(instruction_at(at), reg))
                   .first->second;
}

std::optional<std::uint64_t> JumpTableRecovery::constant_before(Offset at, unsigned reg,
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
std::optional<std::uint64_t> JumpTableRecovery::find_constant_before(Offset at, unsigned reg,
                                                                     int steps) {
  std::optional<std::uint64_t> constant;
  std::unordered_set<Offset> seen;
  std::vector<Offset> open = predecessors(at);
  while (!open.empty()) {
    const Offset now = open.back();
    open.pop_back();
    if (!seen.insert(now).second) {
      continue;
    }
    arch::RegisterEffect found = effect(now, reg);
    if (found.added_to && found.constant) {
      // Some CPUs need more than one instruction for an address.
      const auto before_that =
          steps > 1 ? constant_before(now, *found.added_to, steps - 1) : std::nullopt;
      found.constant = before_that ? std::optional(*found.constant + *before_that) : std::nullopt;
    }
    if (found.changes &&
        (!found.constant || constant.value_or(*found.constant) != *found.constant)) {
      return std::nullopt;
    }
    if (found.changes) {
      constant = found.constant;
      continue;
    }
    if (seen.size() > kMostVisited || !budget_.take(1)) {
      return std::nullopt;
    }
    const std::vector<Offset> further = predecessors(now);
    open.insert(open.end(), further.begin(), further.end());
  }
  return constant;
}

std::optional<ResolvedJump> JumpTableRecovery::read_table(const arch::JumpTable& table) {
  std::vector<std::byte> bytes(table.entries * table.entry_size);
  if (read_(table.first, bytes) != bytes.size()) {
    return std::nullopt;
  }
  std::vector<core::Address> destinations;
  destinations.reserve(table.entries);
  for (std::size_t at = 0; at < bytes.size(); at += table.entry_size) {
    const auto entry = std::span(bytes).subspan(at, table.entry_size);
    const core::Address destination = table.destination(entry_of(entry, table.is_signed));
    // The function's cold part may lie elsewhere; direct branches lead there too.
    if (!descent_.bounds().contains(destination) && !elsewhere_.contains(destination)) {
      return std::nullopt;
    }
    destinations.push_back(destination);
  }
  std::sort(destinations.begin(), destinations.end());
  destinations.erase(std::unique(destinations.begin(), destinations.end()), destinations.end());
  return ResolvedJump{std::move(destinations), {table.first, table.first + bytes.size()}};
}

}  // namespace sp::analyzer
