#pragma once

#include <libunwind.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "supervisor/unwinding/cfi_outcome.h"
#include "supervisor/unwinding/frame_registers.h"
#include "supervisor/unwinding/frame_table.h"
#include "supervisor/unwinding/module_table.h"
#include "supervisor/unwinding/stack_memory.h"

namespace sp::supervisor {

/// One row of call frame information.
struct CfiRow {
  CfiOutcome outcome = CfiOutcome::stepped;  // or why there is no row
  bool signal_frame = false;
  std::vector<std::uint64_t>* state = nullptr;  // opaque: for unw_apply_reg_state()
};

/// The address space that libunwind sees: one of our own making, the same for all processes. Each
/// module has a window at the top of it that never moves, so a row, once computed for an address in
/// a module, is kept for good and serves all processes. libunwind reads call frame information in
/// its canonical form from our memory; all else that it can read is the copy of the stack. We keep
/// the rows ourselves because libunwind's own cache makes two system calls a frame, to block
/// signals around a lock.
class LibunwindSpace {
 public:
  LibunwindSpace();
  LibunwindSpace(const LibunwindSpace&) = delete;
  LibunwindSpace& operator=(const LibunwindSpace&) = delete;
  ~LibunwindSpace();

  /// Puts the cursor at a frame. False if libunwind refuses.
  [[nodiscard]] bool start(const FrameRegisters& registers, const StackMemory& memory);
  [[nodiscard]] unw_cursor_t* cursor() { return &cursor_; }
  /// Those that the cursor was started with.
  [[nodiscard]] const FrameRegisters& registers() const { return registers_; }

  /// The row of an address in a module. Stays where it is.
  const CfiRow& row_of(CodeModule& module, std::uint64_t elf_address);

  /// The address that libunwind last read and the copy of the stack does not hold.
  [[nodiscard]] std::optional<core::Address> missing() const { return missing_; }
  void clear_missing() { missing_.reset(); }

  // What libunwind calls back; they return 0 or a negative unw_error_t.
  int find_proc_info(unw_word_t ip, unw_proc_info_t* found);
  int read_memory(unw_word_t address, unw_word_t* value);
  int read_register(unw_regnum_t number, unw_word_t* value) const;

  /// Keeps a row's state: few are different, so they are shared.
  std::vector<std::uint64_t>* keep(const void* state, std::size_t size);

 private:
  CfiRow compute_row(CodeModule& module, std::uint64_t elf_address, std::uint64_t shift);
  std::uint64_t lay_out(const Fde& fde, std::uint64_t shift, bool drop_signing_marks);

  unw_addr_space_t space_ = nullptr;
  unw_cursor_t cursor_{};
  const StackMemory* memory_ = nullptr;
  FrameRegisters registers_;
  std::optional<core::Address> missing_;

  std::unordered_map<std::uint64_t, CfiRow> rows_;  // by address in the windows
  std::map<std::vector<std::uint64_t>, std::unique_ptr<std::vector<std::uint64_t>>> states_;
  std::vector<std::byte> arena_;                               // window 0
  std::unordered_map<std::uint64_t, std::uint64_t> laid_out_;  // begin of code -> its FDE there
  std::uint64_t fde_ = 0;  // in window 0: what find_proc_info() answers with
};

}  // namespace sp::supervisor
