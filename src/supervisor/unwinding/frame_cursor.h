#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/address.h"
#include "core/stack.h"
#include "supervisor/unwinding/module_table.h"
#include "supervisor/unwinding/native_frames.h"

namespace sp::supervisor {

/// The registers of one frame, as far as they are known.
struct FrameRegisters {
  std::array<std::uint64_t, NativeFrames::kRegisters> values{};
  std::bitset<NativeFrames::kRegisters> known;
  core::Address pc;

  [[nodiscard]] core::Address sp() const {
    return core::Address{values[NativeFrames::kStackPointer]};
  }
  void set(unsigned dwarf_register, std::uint64_t value) {
    values[dwarf_register] = value;
    known.set(dwarf_register);
  }
};

/// The memory that a stack may be read from.
class StackMemory {
 public:
  explicit StackMemory(const core::RawStack& raw) : raw_(raw) {}

  /// The 64-bit word at an address; nothing where the copy does not hold it.
  [[nodiscard]] std::optional<std::uint64_t> word(core::Address address) const;
  [[nodiscard]] core::AddressRange range() const {
    return {raw_.bottom, raw_.bottom + raw_.bytes.size()};
  }

 private:
  const core::RawStack& raw_;
};

/// Steps from a frame to its caller by the module's call frame information, with libunwind.
///
/// libunwind sees an address space of our own making, the same for all processes: every module
/// has a window at the top of it that never moves, so a row of a frame table, once computed for an
/// address in a module, is kept for good and serves all processes. Frame descriptions are handed
/// to libunwind in normal form from memory of ours; all else that it can read is the copy of the
/// stack. We keep the rows ourselves because libunwind's own cache makes two system calls a frame
/// to block signals around a lock.
class FrameCursor {
 public:
  FrameCursor();
  FrameCursor(const FrameCursor&) = delete;
  FrameCursor& operator=(const FrameCursor&) = delete;
  ~FrameCursor();

  /// Begins at a frame; `memory` must live as long as it is stepped from here.
  void start(const FrameRegisters& registers, const StackMemory& memory);

  enum class Outcome {
    stepped,
    root,            // the frame says that it has no caller
    no_description,  // the module says nothing of this address
    not_followed,    // it says what cannot be followed, or needs a register that is not known
    memory_missing,  // see missing()
  };
  /// From the frame whose pc is `elf_address` in `module` to its caller.
  Outcome step(CodeModule& module, std::uint64_t elf_address, bool is_return_address);

  [[nodiscard]] core::Address pc() const { return pc_; }
  [[nodiscard]] core::Address sp() const { return sp_; }
  /// The address that was not there.
  [[nodiscard]] core::Address missing() const { return missing_; }
  /// The last frame stepped from was a signal's: its caller was interrupted.
  [[nodiscard]] bool was_signal_frame() const { return was_signal_frame_; }
  /// All registers of the frame that was stepped to.
  [[nodiscard]] FrameRegisters registers() const;
  /// Where the frame that was left had saved its caller's register; nothing where it had not.
  [[nodiscard]] std::optional<core::Address> saved_at(unsigned dwarf_register) const;

 private:
  struct Library;

  std::unique_ptr<Library> library_;
  core::Address pc_;
  core::Address sp_;
  bool stepped_ = false;
  core::Address missing_;
  bool was_signal_frame_ = false;
};

}  // namespace sp::supervisor
