#pragma once

#include <cstdint>

#include "core/address.h"
#include "core/stack.h"
#include "supervisor/unwinding/address_space.h"
#include "supervisor/unwinding/frame_cursor.h"
#include "supervisor/unwinding/frame_registers.h"
#include "supervisor/unwinding/stack_memory.h"

namespace sp::supervisor {

/// What became of one strategy to find a frame's caller.
enum class UnwindStep : std::uint8_t {
  moved,      // the current frame is the caller now
  ended,      // the walk is over; see CurrentFrame::end_reason()
  no_answer,  // another strategy may know
};

/// The frame at which a stack walk stands. Strategies find out about its caller and move to it
/// here, where a caller is checked before it is believed: a wrong stack is worse than a short one.
class CurrentFrame {
 public:
  /// All three must outlive this.
  CurrentFrame(FrameCursor& cursor, AddressSpace& space, const core::RawStack& raw);

  /// Looks up the code at pc. False if nothing is known of it; that can only be the innermost
  /// frame, because a caller is looked up before it is believed.
  [[nodiscard]] bool find_region();

  [[nodiscard]] core::Address pc() const { return pc_; }
  [[nodiscard]] core::Address sp() const { return sp_; }
  [[nodiscard]] bool is_return_address() const { return is_return_address_; }
  /// As find_region() found it.
  [[nodiscard]] const CodeRegion& region() const { return region_; }
  [[nodiscard]] std::uint64_t elf_pc() const { return region_.elf_address(pc_); }
  [[nodiscard]] FrameCursor& cursor() { return cursor_; }
  [[nodiscard]] const StackMemory& memory() const { return memory_; }
  [[nodiscard]] AddressSpace& space() { return space_; }
  /// Without the bits that signed pointers have on top.
  [[nodiscard]] core::Address strip(core::Address pointer) const {
    return core::Address{pointer.value() & pointer_mask_};
  }

  /// Moves to a caller with these registers; no_answer if they are not plausible.
  UnwindStep move_to(FrameRegisters registers, bool is_return_address);
  /// Moves to the frame that the cursor has stepped to; `ended` if that is not plausible.
  UnwindStep move_to_cursor();

  /// A caller was found by its frame pointer: its sp may be higher than what is known.
  void set_sp_is_lower_bound();
  [[nodiscard]] bool sp_is_lower_bound() const { return sp_is_lower_bound_; }
  /// Starts again at this frame, with another sp.
  void restart_with_sp(core::Address sp);
  /// Of a frame whose sp is a lower bound.
  [[nodiscard]] const FrameRegisters& registers() const { return registers_; }

  UnwindStep end(core::StackEnd reason);
  /// Memory that the walk needs is not in the copy. Says whether a larger copy would have helped.
  UnwindStep end_at_missing(core::Address address);
  [[nodiscard]] core::StackEnd end_reason() const { return end_; }

 private:
  struct Caller {
    core::Address pc;
    core::Address sp;
    bool is_return_address = true;
  };

  void start(const FrameRegisters& registers);
  [[nodiscard]] bool is_above(core::Address sp) const;
  bool is_plausible(Caller& caller);

  FrameCursor& cursor_;
  AddressSpace& space_;
  StackMemory memory_;
  std::uint64_t pointer_mask_;

  core::Address pc_;
  core::Address sp_;
  bool is_return_address_ = false;
  bool sp_is_lower_bound_ = false;
  FrameRegisters registers_;
  CodeRegion region_;
  core::StackEnd end_ = core::StackEnd::root;
};

inline constexpr std::uint64_t kStackWord = 8;

[[nodiscard]] inline core::Address offset_by(core::Address address, std::int64_t bytes) {
  return core::Address{address.value() + static_cast<std::uint64_t>(bytes)};
}

}  // namespace sp::supervisor
