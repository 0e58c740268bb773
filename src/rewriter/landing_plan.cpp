#include "rewriter/landing_plan.h"

#include <algorithm>

#include "rewriter/cpu.h"
#include "rewriter/padding.h"

namespace sp::rewriter {
namespace {

using core::Address;
using core::AddressRange;
using core::CopyRefusal;
using core::Flow;
using cpu::kLongJump;
using cpu::kShortJump;
using cpu::MovedInstruction;
using cpu::SourceInstruction;
using Form = core::CopyLanding::Form;

/// Bytes that nobody executes.
class DeadBytes {
 public:
  DeadBytes(const core::FunctionToCopy& function, const CopyUnits& units) {
    for (const AddressRange& range : function.dead) {
      const bool is_code = std::any_of(units.units.begin(), units.units.end(), [&](const auto& u) {
        return u.start < range.end && range.begin < u.end;
      });
      if (range.begin < range.end && !is_code) {
        free_.push_back(range);
      }
    }
    if (function.is_complete) {
      add_gaps(function, units);
    }
    std::sort(free_.begin(), free_.end());
    const auto overlap = std::adjacent_find(
        free_.begin(), free_.end(),
        [](const auto& left, const auto& right) { return right.begin < left.end; });
    if (overlap != free_.end()) {
      free_.clear();
    }
  }

  /// How many there are from an address on.
  [[nodiscard]] std::uint64_t size_at(Address at) const {
    const auto range = find(at);
    return range < free_.size() ? free_[range].size() : 0;
  }
  /// Uses the first ones from an address on.
  void use(Address at, std::uint64_t size) {
    AddressRange& range = free_[find(at)];
    range.begin = range.begin + size;
  }

  /// Bytes of the original that are executed only by a thread that was put into it in front of
  /// them: those who do that look first (core::FunctionCopy::changes_from()).
  void add(AddressRange range) {
    const auto behind = free_.begin() + static_cast<std::ptrdiff_t>(find(range.end));
    if (behind != free_.end()) {
      range.end = behind->end;
    }
    if (range.size() < kLongJump) {
      return;
    }
    if (behind != free_.end()) {
      *behind = range;
    } else {
      free_.insert(std::upper_bound(free_.begin(), free_.end(), range), range);
    }
  }

  /// A long jump's bytes that a short jump at `from` reaches.
  std::optional<Address> take(Address from) {
    const Address end = from + kShortJump;
    for (AddressRange& range : free_) {
      if (range.size() >= kLongJump && cpu::reaches(end, range.end - kLongJump, 1)) {
        range.end = range.end - kLongJump;
        return range.end;
      }
      if (range.size() >= kLongJump && cpu::reaches(end, range.begin, 1)) {
        const Address taken = range.begin;
        range.begin = range.begin + kLongJump;
        return taken;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t find(Address begin) const {
    return static_cast<std::size_t>(
        std::find_if(free_.begin(), free_.end(),
                     [&](const AddressRange& range) { return range.begin == begin; }) -
        free_.begin());
  }

  /// Between blocks, where control does not come.
  void add_gaps(const core::FunctionToCopy& function, const CopyUnits& units) {
    for (std::size_t i = 0; i + 1 < units.units.size(); ++i) {
      const AddressRange gap{units.units[i].end, units.units[i + 1].start};
      const bool is_reached =
          is_kept(units.last_of(units.units[i]).instruction.flow) || units.units[i].falls_through;
      if (gap.begin < gap.end && !is_reached &&
          find_padding(function.code.subspan(gap.begin - function.bounds.begin, gap.size()),
                       gap.begin) == gap) {
        free_.push_back(gap);
      }
    }
  }

  std::vector<AddressRange> free_;  // sorted
};

class LandingPlanner {
 public:
  LandingPlanner(const core::FunctionToCopy& function, const CopyUnits& units)
      : function_(function), units_(units), dead_(function, units) {}

  tl::expected<PlannedLanding, CopyRefusal> plan(std::size_t index, bool is_covered) {
    const CopyUnit& unit = units_.units[index];
    if (unit.is_unlocked || is_covered) {
      return PlannedLanding{Form::none, 0, {}, false};
    }
    if (unit.is_locked) {
      return PlannedLanding{};  // a jump would change the next unit
    }
    const SourceInstruction& last = units_.last_of(unit);
    const Flow flow = last.instruction.flow;
    const std::uint64_t whole = unit.end - unit.start;
    const std::uint64_t before_kept = is_kept(flow) ? last.instruction.address - unit.start : whole;
    const bool can_emulate = cpu::can_emulate_call(last);

    if (unit.is_outside) {
      if (auto kept = plan_jump(unit, before_kept)) {
        return *kept;
      }
      if (auto covering = plan_over_next(index)) {
        return *covering;
      }
      if (can_emulate) {
        if (auto emulated = plan_jump(unit, whole)) {
          emulated->emulates_call = true;
          return *emulated;
        }
      }
    }
    PlannedLanding breakpoint;
    breakpoint.emulates_call = before_kept == 0;
    if (breakpoint.emulates_call && !can_emulate) {
      return tl::unexpected(CopyRefusal::unmovable);
    }
    return breakpoint;
  }

  /// What the landings leave of the unit, up to `covered` that of the one in front, can hold second
  /// jumps. From the first call on no landing covers a next unit.
  void use_rest(const CopyUnit& unit, const PlannedLanding& planned, Address covered) {
    rest_is_used_ = true;
    const SourceInstruction& last = units_.last_of(unit);
    const bool keeps_last = is_kept(last.instruction.flow) && !planned.emulates_call;
    const Address end = keeps_last ? last.instruction.address : unit.end;
    // Two bytes: its own landing may still become a short jump.
    const Address begin =
        std::max(covered, unit.start + std::max<std::uint64_t>(planned.size, kShortJump));
    const bool is_shared = unit.is_locked || unit.is_unlocked;
    if (is_closed() && !is_shared && begin < end) {
      dead_.add({begin, end});
    }
  }
  /// A second try for a breakpoint.
  void shorten(std::size_t index, PlannedLanding& planned) {
    if (planned.form == Form::breakpoint && units_.units[index].is_outside) {
      if (const auto better = plan(index, false)) {
        planned = *better;
      }
    }
  }

 private:
  /// Nobody comes to the instructions behind a leader but by the leader.
  [[nodiscard]] bool is_closed() const { return function_.is_complete && function_.jumps_within; }
  /// A jump within the first `room` bytes of the unit, or in these and dead bytes behind it.
  std::optional<PlannedLanding> plan_jump(const CopyUnit& unit, std::uint64_t room) {
    const SourceInstruction& leader = units_.instructions[unit.first];
    const std::uint8_t first = leader.instruction.length;
    const std::uint8_t pad = cpu::pad_length(leader);
    // Where control may come to any instruction, none may begin within the jump.
    const std::uint64_t usable = (is_closed() ? room : std::min<std::uint64_t>(room, first + pad)) -
                                 std::min<std::uint64_t>(room, pad);
    if (usable >= kLongJump) {
      return PlannedLanding{Form::jump, kLongJump, {}, false, false, pad};
    }
    if (usable == unit.end - unit.start && usable + dead_.size_at(unit.end) >= kLongJump) {
      dead_.use(unit.end, kLongJump - usable);
      return PlannedLanding{Form::jump, kLongJump, {}, false};
    }
    if (usable >= kShortJump) {
      if (const auto via = dead_.take(unit.start)) {
        return PlannedLanding{Form::jump, kShortJump, *via, false};
      }
    }
    return std::nullopt;
  }

  /// A long jump in a unit that is too short for it, and in the next, which was cut off it.
  [[nodiscard]] std::optional<PlannedLanding> plan_over_next(std::size_t index) const {
    if (rest_is_used_ || !is_closed() || index + 1 == units_.units.size()) {
      return std::nullopt;
    }
    const CopyUnit& unit = units_.units[index];
    const CopyUnit& next = units_.units[index + 1];
    const core::Instruction& last = units_.last_of(next).instruction;
    const Address end = is_kept(last.flow) ? last.address : next.end;
    if (!next.is_cut || next.is_outside || next.is_locked || next.start != unit.end ||
        end < unit.start + kLongJump) {
      return std::nullopt;
    }
    return PlannedLanding{Form::jump, kLongJump, {}, false, true};
  }

  const core::FunctionToCopy& function_;
  const CopyUnits& units_;
  DeadBytes dead_;
  bool rest_is_used_ = false;
};

template <std::size_t size>
void write(const MovedInstruction& jump, std::array<std::byte, size>& into) {
  std::copy_n(jump.bytes.begin(), jump.size, into.begin());
}

}  // namespace

tl::expected<std::vector<PlannedLanding>, CopyRefusal> plan_landings(
    const core::FunctionToCopy& function, const CopyUnits& units) {
  LandingPlanner planner(function, units);
  std::vector<PlannedLanding> plans;
  plans.reserve(units.units.size());
  for (std::size_t i = 0; i < units.units.size(); ++i) {
    const auto planned = planner.plan(i, i > 0 && plans[i - 1].covers_next);
    if (!planned) {
      return tl::unexpected(planned.error());
    }
    plans.push_back(*planned);
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool is_covered = i > 0 && plans[i - 1].covers_next;
    planner.use_rest(units.units[i], plans[i],
                     is_covered ? units.units[i - 1].start + kLongJump : Address{});
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    planner.shorten(i, plans[i]);
  }
  return plans;
}

std::optional<core::CopyLanding> make_landing(const PlannedLanding& planned, Address leader,
                                              Address copy) {
  core::CopyLanding landing;
  const Address at = leader + planned.pad;
  landing.at = at;
  landing.pad = planned.pad;
  landing.form = planned.form;
  landing.copy = copy;
  if (planned.form != Form::jump) {
    return landing;
  }
  MovedInstruction far = cpu::far_jump_to(copy);
  if (planned.size == kLongJump) {
    if (!place(far, at)) {
      return std::nullopt;
    }
    write(far, landing.bytes);
    landing.size = far.size;
    return landing;
  }
  MovedInstruction near = cpu::jump_to(planned.via);
  if (!place(near, at) || !place(far, planned.via)) {
    return std::nullopt;
  }
  write(near, landing.bytes);
  landing.size = near.size;
  write(far, landing.via_bytes);
  landing.via = planned.via;
  landing.via_size = far.size;
  return landing;
}

}  // namespace sp::rewriter
