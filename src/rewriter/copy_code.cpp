#include "rewriter/copy_code.h"

#include <algorithm>
#include <optional>

#include "arch/x86_64/counter_code.h"
#include "arch/x86_64/registers.h"
#include "rewriter/counter_choice.h"
#include "rewriter/live_state.h"

namespace sp::rewriter {
namespace {

using arch::x86_64::MovedInstruction;
using arch::x86_64::SourceInstruction;
using core::Address;
using core::CopyRefusal;
using core::CopyUndo;
using core::Flow;

using Refusal = std::optional<CopyRefusal>;

constexpr std::uint8_t kExitRoom = 5;
constexpr std::int16_t kWord = 8;
constexpr std::int16_t kSkipped = arch::x86_64::kRedZone;

class CodeMaker {
 public:
  CodeMaker(const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live)
      : function_(function), units_(units), live_(live) {}

  /// Appends a unit's copy. `counter` is that of its block.
  Refusal add(std::uint32_t index, const PlannedLanding& landing, const PlannedBranch& branch,
              std::uint64_t counter) {
    const CopyUnit& unit = units_.units[index];
    const auto sources = units_.code_of(unit);
    if (unit.is_loop_head) {
      continue_at(unit.start);
      emit({}).is_padding = true;
    }
    made_.units.push_back(static_cast<std::uint32_t>(made_.instructions.size()));
    is_counted_ = !unit.starts_block;
    std::optional<CounterChoice> choice;
    if (unit.starts_block) {
      choice = choose(sources);
      if (!choice) {
        return CopyRefusal::no_scratch_register;
      }
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const bool is_left = is_kept(sources[i].instruction.flow) && !landing.emulates_call;
      at(sources[i].instruction.address, is_left);
      if (i == 0 && unit.is_loop_head) {
        add_exit(index, choice && choice->index == 0);
      }
      if (choice && choice->index == i) {
        add_counter(*choice, counter, [this] { is_counted_ = true; });
      }
      if (const auto refusal = add_instruction(sources[i], landing.emulates_call)) {
        return refusal;
      }
    }
    if (branch.by_own_counter) {
      continue_at(unit.end);
      is_branching_ = true;
      add_counter(*branch.by_own_counter, branch.counter, [this] { is_branching_ = false; });
    }
    return add_way_on(index);
  }

  CopyCode take() { return std::move(made_); }

 private:
  std::optional<CounterChoice> choose(std::span<const SourceInstruction> sources) {
    live_before_.clear();
    for (const SourceInstruction& source : sources) {
      live_before_.push_back(live_.before(source.instruction.address));
    }
    return choose_counter(live_before_, function_.allow_spill);
  }

  /// Of what is emitted next: the original's next instruction. A thread may be put there from the
  /// original, unless that `is_left` in the original.
  void at(Address original, bool is_left) {
    original_ = original;
    is_entry_ = !is_left;
  }

  CopiedInstruction& emit(const MovedInstruction& code, std::uint8_t undo = 0) {
    CopiedInstruction copied;
    copied.code = code;
    copied.original = original_;
    copied.undo = undo;
    copied.is_counted = is_counted_;
    copied.is_entry = is_entry_;
    copied.is_branching = is_branching_;
    is_entry_ = false;
    made_.instructions.push_back(copied);
    return made_.instructions.back();
  }

  std::uint8_t undo(const CopyUndo& undo) {
    const auto found = std::find(made_.undos.begin(), made_.undos.end(), undo);
    const auto index = static_cast<std::uint8_t>(found - made_.undos.begin());
    if (found == made_.undos.end()) {
      made_.undos.push_back(undo);
    }
    return index;
  }

  void add_exit(std::uint32_t unit, bool is_counter_first) {
    const SourceInstruction& first = units_.code_of(units_.units[unit]).front();
    // The increment and the load of a counter have nine bytes, and the spill begins with five.
    std::uint8_t room = is_counter_first ? kExitRoom : first.instruction.length;
    if (!is_counter_first && (room < kExitRoom || first.instruction.flow != Flow::next)) {
      room = emit(arch::x86_64::long_nop()).code.size;
    }
    made_.exits.push_back({unit, room});
  }

  /// `note_counted` is called where the count is done.
  template <typename NoteCounted>
  void add_counter(const CounterChoice& choice, std::uint64_t counter,
                   const NoteCounted& note_counted) {
    if (choice.form == CounterChoice::Form::increment) {
      emit(arch::x86_64::increment_counter(counter));
      note_counted();
      return;
    }
    const auto count = arch::x86_64::count_in_register(counter, choice.reg);
    if (choice.form == CounterChoice::Form::in_register) {
      for (const MovedInstruction& part : count) {
        emit(part);
      }
      note_counted();
      return;
    }
    const auto skipped = undo({kSkipped, 0xFF, 0});
    const auto pushed = undo({kSkipped + kWord, static_cast<std::uint8_t>(choice.reg), 0});
    emit(arch::x86_64::skip_red_zone());
    emit(arch::x86_64::push_register(choice.reg), skipped);
    for (const MovedInstruction& part : count) {
      emit(part, pushed);
    }
    note_counted();
    emit(arch::x86_64::pop_register(choice.reg), pushed);
    emit(arch::x86_64::return_to_red_zone(), skipped);
  }

  Refusal add_instruction(const SourceInstruction& source, bool emulates_call) {
    switch (source.instruction.flow) {
      case Flow::next:
      case Flow::indirect_jump:
      case Flow::ret:
      case Flow::stop:
        return add_unchanged(source);
      case Flow::jump:
      case Flow::branch:
        return add_jump(source);
      case Flow::call:
      case Flow::indirect_call:
        if (emulates_call) {
          return add_emulated_call(source);
        }
        [[fallthrough]];
      case Flow::syscall:
        emit_far_jump(arch::x86_64::jump_to(source.instruction.address));
        return std::nullopt;
    }
    return CopyRefusal::unmovable;
  }

  Refusal add_unchanged(const SourceInstruction& source) {
    const auto moved = arch::x86_64::move_unchanged(source);
    if (!moved) {
      return CopyRefusal::unmovable;
    }
    emit(*moved);
    return std::nullopt;
  }

  Refusal add_jump(const SourceInstruction& source) {
    const Address target = *source.instruction.target;
    const auto jump = arch::x86_64::move_short_jump(source, target);
    if (jump) {
      emit_jump(*jump);
      return std::nullopt;
    }
    if (!arch::x86_64::is_loop(source)) {
      return CopyRefusal::unmovable;  // more prefixes than a near jump can have
    }
    // A loop or jrcxz that skips a jump over one to its target.
    MovedInstruction to_target = arch::x86_64::jump_to(target);
    widen(to_target);
    MovedInstruction over = arch::x86_64::jump_to({});
    over.field_size = 0;
    over.bytes[over.field] = static_cast<std::byte>(to_target.size);
    emit(arch::x86_64::move_loop(source, over.size));
    const Address next = source.instruction.next();
    continue_at(next);
    emit(over);
    continue_at(target);
    emit_jump(to_target);
    return std::nullopt;
  }

  Refusal add_emulated_call(const SourceInstruction& source) {
    const auto pushes = arch::x86_64::call_from(source.instruction.next());
    const auto pushed = undo({kWord, 0xFF, 0});
    emit(pushes[0]);
    emit(pushes[1], pushed);
    emit(pushes[2]);
    const bool is_direct = source.instruction.flow == Flow::call;
    const auto jump = is_direct ? arch::x86_64::move_short_jump(source, *source.instruction.target)
                                : arch::x86_64::jump_through_operand(source);
    if (!jump) {
      return CopyRefusal::unmovable;
    }
    if (is_direct) {
      emit_far_jump(*jump, pushed);
    } else {
      emit(*jump, pushed);
    }
    return std::nullopt;
  }

  /// Where the last instruction continues, if that is not the next unit of the copy.
  Refusal add_way_on(std::uint32_t index) {
    const CopyUnit& unit = units_.units[index];
    const bool is_next =
        index + 1 < units_.units.size() && units_.units[index + 1].start == unit.end;
    if (unit.falls_through && !is_next) {
      continue_at(unit.end);
      emit_jump(arch::x86_64::jump_to(unit.end));
    }
    return std::nullopt;
  }

  /// What is emitted next is the copy's own: control is at `original` already.
  void continue_at(Address original) {
    original_ = original;
    if (const auto unit = units_.find(original)) {
      is_counted_ = !units_.units[*unit].starts_block;
    }
  }

  /// A jump to a unit's copy if its target has one.
  void emit_jump(const MovedInstruction& jump) {
    if (const auto unit = units_.find(jump.target)) {
      emit(jump).to_unit = *unit;
    } else if (jump.field_size == 1) {
      emit_far_jump(jump);
    } else {
      emit(jump);
    }
  }

  void emit_far_jump(MovedInstruction jump, std::uint8_t undo = 0) {
    widen(jump);
    emit(jump, undo);
  }

  const core::FunctionToCopy& function_;
  const CopyUnits& units_;
  const LiveState& live_;
  CopyCode made_;
  std::vector<LiveBefore> live_before_;
  Address original_;
  bool is_entry_ = false;
  bool is_counted_ = false;
  bool is_branching_ = false;
};

}  // namespace

tl::expected<CopyCode, CopyRefusal> make_copy_code(const core::FunctionToCopy& function,
                                                   const CopyUnits& units, const LiveState& live,
                                                   std::span<const PlannedLanding> landings,
                                                   std::span<const PlannedBranch> branches,
                                                   std::uint64_t counters) {
  if (!live.flags_across_calls().empty()) {
    return tl::unexpected(CopyRefusal::flags_across_calls);
  }
  CodeMaker maker(function, units, live);
  for (std::uint32_t i = 0; i < units.units.size(); ++i) {
    const std::uint64_t counter = counters + sizeof(std::uint64_t) * units.units[i].block;
    if (const auto refusal = maker.add(i, landings[i], branches[i], counter)) {
      return tl::unexpected(*refusal);
    }
  }
  return maker.take();
}

}  // namespace sp::rewriter
