#include "rewriter/copy_code.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "rewriter/copy_writer.h"
#include "rewriter/cpu.h"
#include "rewriter/live_state.h"
#include "rewriter/table_code.h"

namespace sp::rewriter {
namespace {

using arch::CounterChoice;
using core::Address;
using core::CopyRefusal;
using core::Flow;
using cpu::MovedInstruction;
using cpu::SourceInstruction;

using Refusal = std::optional<CopyRefusal>;

class CodeMaker {
 public:
  CodeMaker(const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
            const core::CopyPlace& place)
      : function_(function), units_(units), live_(live), place_(place) {}

  /// Appends a unit's copy.
  Refusal add(std::uint32_t index, const PlannedLanding& landing, const PlannedBranch& branch,
              const std::optional<PlannedTable>& table) {
    const CopyUnit& unit = units_.units[index];
    const std::uint64_t counter = place_.counters + sizeof(std::uint64_t) * unit.block;
    const auto sources = units_.code_of(unit);
    if (unit.is_loop_head) {
      continue_at(unit.start);
    }
    writer_.made().units.push_back(writer_.size());
    writer_.made().landings.push_back(writer_.size());
    writer_.set_counted(!unit.starts_block);
    std::optional<CounterChoice> choice;
    if (unit.starts_block) {
      choice = choose(sources, landing.pad);
      if (!choice) {
        return CopyRefusal::no_scratch_register;
      }
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const bool is_left = is_kept(sources[i].instruction.flow) && !landing.emulates_call;
      writer_.at(sources[i].instruction.address, is_left);
      if (landing.pad != 0 && sources[i].instruction.address == unit.start + landing.pad) {
        writer_.made().landings.back() = writer_.size();
      }
      if (i == 0 && unit.is_loop_head) {
        add_exit(index, choice && choice->index == 0);
      }
      Refusal refusal;
      add_with_event(sources[i], [&] {
        if (choice && choice->index == i) {
          writer_.add_counter(cpu::count(*choice, counter, place_.adds_in_memory));
        }
        const bool reads_table = table && i + table->jump.instructions == sources.size() &&
                                 (!choice || choice->index <= i);
        if (reads_table && table->jump.is_apart) {
          refusal = add_table_load(index, *table, sources.subspan(i), writer_);
          return;
        }
        if (reads_table) {
          add_table_jump(index, *table, writer_);
        }
        refusal = counts_transfer(sources[i]) ? add_transfer(index, counter, landing.emulates_call)
                                              : add_instruction(sources[i], landing.emulates_call);
      });
      if (refusal) {
        return refusal;
      }
    }
    if (branch.by_own_counter) {
      continue_at(unit.end);
      writer_.add_branch_counter(
          cpu::count(*branch.by_own_counter, branch.counter, place_.adds_in_memory));
    }
    return add_way_on(index);
  }

  [[nodiscard]] CopyWriter& writer() { return writer_; }
  CopyCode take() { return std::move(writer_.made()); }

 private:
  /// Behind the landing's pad.
  std::optional<CounterChoice> choose(std::span<const SourceInstruction> sources,
                                      std::uint8_t pad) {
    live_before_.clear();
    for (const SourceInstruction& source : sources) {
      live_before_.push_back(live_.before(source.instruction.address));
      live_before_.back().is_bound = source.is_bound || (pad != 0 && live_before_.size() == 1);
    }
    return cpu::choose_counter(live_before_, function_.allow_spill, place_.adds_in_memory);
  }

  void add_exit(std::uint32_t unit, bool is_counter_first) {
    const SourceInstruction& first = units_.code_of(units_.units[unit]).front();
    std::uint8_t room = cpu::exit_room(is_counter_first ? nullptr : &first);
    if (room == 0) {
      room = writer_.emit(cpu::exit_filler()).code.size;
    }
    writer_.made().exits.push_back({unit, room});
  }

  /// `add` emits the instruction, behind what writes the event of a place there.
  void add_with_event(const SourceInstruction& source, const std::function<void()>& add) {
    const Address at = source.instruction.address;
    const auto place =
        std::lower_bound(function_.places.begin(), function_.places.end(), at,
                         [](const auto& one, Address wanted) { return one.at < wanted; });
    if (!place_.events || place == function_.places.end() || place->at != at) {
      add();
      return;
    }
    const bool saves_flags = live_.before(at).flags != 0;
    writer_.add_noted(cpu::write_event(*place_.events, *place, saves_flags), add);
  }

  [[nodiscard]] bool counts_transfer(const SourceInstruction& source) const {
    return place_.transfers && function_.allow_spill && is_indirect(source.instruction.flow);
  }

  /// The last instruction of a unit, with what counts it.
  Refusal add_transfer(std::uint32_t unit, std::uint64_t counter, bool emulates_call) {
    const SourceInstruction& source = units_.last_of(units_.units[unit]);
    const bool saves_flags = live_.before(source.instruction.address).flags != 0;
    const auto code = cpu::count_transfer(source, *place_.transfers,
                                          static_cast<std::uint32_t>(counter), saves_flags);
    if (!code) {
      return add_instruction(source, emulates_call);
    }
    Refusal refusal;
    writer_.add_noted(*code, [&] { refusal = add_instruction(source, emulates_call); });
    writer_.made().transfers.push_back({unit, saves_flags});
    return refusal;
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
        writer_.emit(cpu::far_jump_to(source.instruction.address));
        return std::nullopt;
    }
    return CopyRefusal::unmovable;
  }

  Refusal add_unchanged(const SourceInstruction& source) {
    const auto moved = cpu::move_plain(source, function_.code, function_.bounds.begin);
    if (!moved) {
      return CopyRefusal::unmovable;
    }
    for (const MovedInstruction& part : *moved) {
      if (part.size > 0) {
        writer_.emit(part);
      }
    }
    return std::nullopt;
  }

  Refusal add_jump(const SourceInstruction& source) {
    using Where = cpu::JumpPart::Where;
    const Address target = *source.instruction.target;
    const std::uint64_t within = units_.find(target) ? place_.room : ~std::uint64_t{0};
    const auto parts = cpu::move_jump(source, target, within);
    if (!parts) {
      return CopyRefusal::unmovable;
    }
    for (const cpu::JumpPart& part : *parts) {
      if (part.where != Where::jump) {
        continue_at(part.where == Where::next ? source.instruction.next() : target);
      }
      if (part.code.has_target()) {
        emit_jump(part.code);
      } else {
        writer_.emit(part.code);
      }
    }
    return std::nullopt;
  }

  Refusal add_emulated_call(const SourceInstruction& source) {
    const auto steps = cpu::emulate_call(source);
    if (!steps) {
      return CopyRefusal::unmovable;
    }
    for (const cpu::InsertedStep& step : *steps) {
      writer_.emit(step.code, writer_.undo(step.undo));
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
      emit_jump(cpu::jump_to(unit.end));
    }
    return std::nullopt;
  }

  /// What is emitted next is the copy's own: control is at `original` already.
  void continue_at(Address original) {
    writer_.continue_at(original);
    if (const auto unit = units_.find(original)) {
      writer_.set_counted(!units_.units[*unit].starts_block);
    }
  }

  /// A jump to a unit's copy if its target has one.
  void emit_jump(MovedInstruction jump) {
    if (const auto unit = units_.find(jump.target)) {
      writer_.emit(jump).to_unit = *unit;
    } else {
      cpu::make_far(jump);
      writer_.emit(jump);
    }
  }

  const core::FunctionToCopy& function_;
  const CopyUnits& units_;
  const LiveState& live_;
  const core::CopyPlace& place_;
  CopyWriter writer_;
  std::vector<LiveBefore> live_before_;
};

}  // namespace

tl::expected<CopyCode, CopyRefusal> make_copy_code(
    const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
    std::span<const PlannedLanding> landings, std::span<const PlannedBranch> branches,
    std::span<const std::optional<PlannedTable>> tables, const core::CopyPlace& place) {
  const auto& across = live.flags_across_calls();
  if (std::any_of(across.begin(), across.end(), [&function](Address at) {
        return function.is_called || at != function.bounds.begin;
      })) {
    return tl::unexpected(CopyRefusal::flags_across_calls);
  }
  CodeMaker maker(function, units, live, place);
  for (std::uint32_t i = 0; i < units.units.size(); ++i) {
    if (const auto refusal = maker.add(i, landings[i], branches[i], tables[i])) {
      return tl::unexpected(*refusal);
    }
  }
  for (const auto& table : tables) {
    if (table) {
      add_setters(*table, units, maker.writer());
    }
  }
  return maker.take();
}

}  // namespace sp::rewriter
