#pragma once

#include <cstddef>

#include "core/stack.h"
#include "supervisor/unwinding/address_space.h"
#include "supervisor/unwinding/frame_cursor.h"

namespace sp::supervisor {

/// Walks one stack, from what a stop copied, frame by frame: by call frame information where the
/// code has it, else by what its instructions and the frame pointer show, and on with the former.
/// A wrong stack is worse than a short one: a return address that is not in code, or in front of
/// which no call stands, ends the walk.
class StackWalk {
 public:
  /// All four must outlive the walk. The cursor is kept from walk to walk: it holds the caches.
  StackWalk(FrameCursor& cursor, AddressSpace& space, ModuleTable& modules,
            const core::RawStack& raw);

  /// Frames beyond `max_frames` are not looked for.
  [[nodiscard]] core::Stack run(std::size_t max_frames);

 private:
  static constexpr std::uint64_t kWord = 8;
  static core::Address offset_by(std::uint64_t address, std::int64_t bytes) {
    return core::Address{address + static_cast<std::uint64_t>(bytes)};
  }

  /// What became of one way to find the caller.
  enum class Step { moved, ended, no_answer };
  struct Caller {
    core::Address pc;
    core::Address sp;
    bool is_return_address = true;
  };

  bool enter(core::Stack& stack);
  Step leave();
  Step leave_by_exit();
  Step leave_by_description();
  FrameCursor::Outcome step_by_description();
  FrameCursor::Outcome step_at(std::size_t from_pc);
  Step leave_by_entry();
  Step leave_by_resolver();
  bool find_sp();
  void start_with_sp(core::Address sp);
  bool is_behind_call_of_this(core::Address return_address);
  Step leave_by_signal_return();
  Step leave_by_stub();
  Step leave_by_frame_pointer();
  [[nodiscard]] bool is_at_entry() const;
  Step move_to(FrameRegisters registers, bool is_return_address);
  Step end_at_missing(core::Address address);
  Step end(core::StackEnd why);

  bool was_called_from_top_of_stack();
  [[nodiscard]] bool leaves_function(std::int64_t jump_target) const;
  [[nodiscard]] bool is_above(core::Address sp) const;
  bool believe(Caller& caller);
  void start(const FrameRegisters& registers);

  FrameCursor& cursor_;
  AddressSpace& space_;
  ModuleTable& modules_;
  StackMemory memory_;
  std::uint64_t pointer_mask_;

  core::Address pc_;
  core::Address sp_;
  bool is_return_address_ = false;
  bool sp_is_lowest_ = false;  // of the frame at pc only what its sp is at least is known
  FrameRegisters registers_;   // of that frame
  CodeRegion region_;
  core::StackEnd end_ = core::StackEnd::root;
};

}  // namespace sp::supervisor
