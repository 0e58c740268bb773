#pragma once

#include <cstddef>
#include <vector>

#include "core/stack.h"
#include "supervisor/unwinding/current_frame.h"
#include "supervisor/unwinding/walked_frame.h"

namespace sp::supervisor {

/// Walks one stack, from what a stop copied, frame by frame: by call frame information where the
/// code has it, else by what its instructions and the frame pointer show. A return address that is
/// not in code, or in front of which no call stands, ends the walk.
class StackWalk {
 public:
  /// All four must outlive the walk. The cursor is kept from walk to walk: it holds the caches.
  StackWalk(FrameCursor& cursor, AddressSpace& space, ModuleTable& modules,
            const core::RawStack& raw)
      : modules_(modules), frame_(cursor, space, raw) {}

  /// At most `max_frames` frames, which are added to `walked`, too, if that is not null.
  [[nodiscard]] core::Stack run(std::size_t max_frames, std::vector<WalkedFrame>* walked = nullptr);

 private:
  bool add_frame(core::Stack& stack);
  UnwindStep unwind();

  ModuleTable& modules_;
  CurrentFrame frame_;
};

}  // namespace sp::supervisor
