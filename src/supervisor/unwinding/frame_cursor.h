#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/address.h"
#include "supervisor/unwinding/cfi_outcome.h"
#include "supervisor/unwinding/frame_registers.h"
#include "supervisor/unwinding/module_table.h"
#include "supervisor/unwinding/stack_memory.h"

namespace sp::supervisor {

class LibunwindSpace;

/// Steps from a frame to its caller by the module's call frame information, with libunwind. Keeps
/// what it computed (see LibunwindSpace), so one cursor serves all walks of all processes.
class FrameCursor {
 public:
  FrameCursor();
  FrameCursor(const FrameCursor&) = delete;
  FrameCursor& operator=(const FrameCursor&) = delete;
  ~FrameCursor();

  /// Begins at a frame; `memory` must live as long as the cursor steps from here.
  void start(const FrameRegisters& registers, const StackMemory& memory);

  /// Steps from the frame whose pc is `elf_address` in `module` to its caller.
  CfiOutcome step(CodeModule& module, std::uint64_t elf_address, bool is_return_address);

  [[nodiscard]] core::Address pc() const { return pc_; }
  [[nodiscard]] core::Address sp() const { return sp_; }
  /// The address that was needed and is not in the copy of the stack.
  [[nodiscard]] core::Address missing() const { return missing_; }
  /// Whether the frame last stepped from was a signal's: its caller was interrupted.
  [[nodiscard]] bool was_signal_frame() const { return was_signal_frame_; }
  /// All registers of the frame that was stepped to.
  [[nodiscard]] FrameRegisters registers() const;
  /// Where the frame that was stepped from had saved its caller's register; nothing if it had not.
  [[nodiscard]] std::optional<core::Address> saved_at(unsigned dwarf_register) const;

 private:
  std::unique_ptr<LibunwindSpace> space_;
  core::Address pc_;
  core::Address sp_;
  bool stepped_ = false;
  core::Address missing_;
  bool was_signal_frame_ = false;
};

}  // namespace sp::supervisor
