#include "supervisor/unwinding/frame_cursor.h"

#include <libunwind.h>

#include "core/check.h"
#include "supervisor/unwinding/libunwind_space.h"

namespace sp::supervisor {

FrameCursor::FrameCursor() : space_(std::make_unique<LibunwindSpace>()) {}

FrameCursor::~FrameCursor() = default;

void FrameCursor::start(const FrameRegisters& registers, const StackMemory& memory) {
  SP_CHECK(space_->start(registers, memory));
  pc_ = registers.pc;
  sp_ = registers.sp();
  stepped_ = false;
}

CfiOutcome FrameCursor::step(CodeModule& module, std::uint64_t elf_address,
                             bool is_return_address) {
  const CfiRow& row = space_->row_of(module, elf_address - (is_return_address ? 1 : 0));
  if (row.outcome != CfiOutcome::stepped) {
    return row.outcome;
  }
  space_->clear_missing();
  unw_cursor_t* cursor = space_->cursor();
  const int result = unw_apply_reg_state(cursor, row.state->data());
  if (result < 0) {
    missing_ = space_->missing().value_or(core::Address{});
    return space_->missing() ? CfiOutcome::memory_missing : CfiOutcome::unusable_cfi;
  }
  was_signal_frame_ = row.signal_frame;
  unw_word_t pc = 0;
  unw_word_t sp = 0;
  if (result == 0 || unw_get_reg(cursor, UNW_REG_IP, &pc) != 0 ||
      unw_get_reg(cursor, UNW_REG_SP, &sp) != 0) {
    return CfiOutcome::root;
  }
  pc_ = core::Address{pc};
  sp_ = core::Address{sp};
  stepped_ = true;
  return CfiOutcome::stepped;
}

std::optional<core::Address> FrameCursor::saved_at(unsigned dwarf_register) const {
  unw_save_loc_t place{};
  if (unw_get_save_loc(space_->cursor(), static_cast<int>(dwarf_register), &place) != 0 ||
      place.type != UNW_SLT_MEMORY) {
    return std::nullopt;
  }
  return core::Address{place.u.addr};
}

FrameRegisters FrameCursor::registers() const {
  if (!stepped_) {
    return space_->registers();  // libunwind 1.6 gives pc for x30
  }
  FrameRegisters out;
  out.pc = pc_;
  for (unsigned i = 0; i < out.values.size(); ++i) {
    unw_word_t value = 0;
    if (unw_get_reg(space_->cursor(), static_cast<unw_regnum_t>(i), &value) == 0) {
      out.set(i, value);
    }
  }
  return out;
}

}  // namespace sp::supervisor
