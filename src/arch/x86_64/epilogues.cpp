// Recognises epilogues by their instructions (Intel SDM volume 2).
#include "arch/x86_64/code_bytes.h"
#include "arch/x86_64/frames.h"

namespace sp::arch::x86_64 {
namespace {

// Hardware numbers order the registers rax rcx rdx rbx rsp rbp rsi rdi, DWARF does otherwise.
constexpr std::array<unsigned, 16> kDwarfOfHardware = {0, 2, 1,  3,  7,  6,  4,  5,
                                                       8, 9, 10, 11, 12, 13, 14, 15};

/// Follows the instructions of an epilogue, one call of take() for each.
class ExitReader {
 public:
  explicit ExitReader(Bytes code) : code_(code) {}

  std::optional<Frames::Epilogue> read() {
    constexpr int kLongest = 16;  // instructions; real ones have at most nine
    for (int i = 0; i < kLongest; ++i) {
      const Bytes rest = code_.subspan(at_);
      if (const bool ended = take_return(rest); ended) {
        return exit_;
      }
      if (!take_pop(rest) && !take_release(rest)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  bool take_return(Bytes rest) {
    exit_.return_slot = slot_;
    if (starts_with(rest, {0xc3}) || starts_with(rest, {0xf3, 0xc3}) ||
        starts_with(rest, {0xf2, 0xc3})) {
      return true;
    }
    if (rest.size() >= 3 && starts_with(rest, {0xc2})) {
      exit_.released = static_cast<std::int64_t>(byte_at(rest, 1) | byte_at(rest, 2) << 8U);
      return true;
    }
    return take_jump(rest);
  }

  bool take_jump(Bytes rest) {
    if (!popped_) {
      return false;  // nothing shows that this jump leaves the function
    }
    const auto at = static_cast<std::int64_t>(at_);
    if (rest.size() >= 5 && starts_with(rest, {0xe9})) {
      exit_.jump_target = at + 5 + signed32(rest, 1);
    } else if (rest.size() >= 2 && starts_with(rest, {0xeb})) {
      exit_.jump_target = at + 2 + signed8(rest, 1);
    } else {
      return false;
    }
    exit_.by_jump = true;
    return true;
  }

  bool take_pop(Bytes rest) {
    unsigned hardware = 0;
    if (!rest.empty() && (byte_at(rest, 0) & 0xf8U) == 0x58) {
      hardware = byte_at(rest, 0) & 7U;
      at_ += 1;
    } else if (rest.size() >= 2 && starts_with(rest, {0x41}) &&
               (byte_at(rest, 1) & 0xf8U) == 0x58) {
      hardware = 8 + (byte_at(rest, 1) & 7U);
      at_ += 2;
    } else if (starts_with(rest, {0xc9})) {  // leave
      at_ += 1;
      return rebase(0) && restore(Frames::kFramePointer);
    } else {
      return false;
    }
    return restore(kDwarfOfHardware[hardware]);
  }

  bool take_release(Bytes rest) {
    if (rest.size() >= 4 && starts_with(rest, {0x48, 0x83, 0xc4})) {  // add $imm8, %rsp
      at_ += 4;
      return release(signed8(rest, 3));
    }
    if (rest.size() >= 7 && starts_with(rest, {0x48, 0x81, 0xc4})) {  // add $imm32, %rsp
      at_ += 7;
      return release(signed32(rest, 3));
    }
    if (rest.size() >= 4 && starts_with(rest, {0x48, 0x83, 0xec})) {  // sub $imm8, %rsp, in _fini
      at_ += 4;
      return release(-signed8(rest, 3));
    }
    if (rest.size() >= 4 && starts_with(rest, {0x48, 0x8d, 0x65})) {  // lea disp8(%rbp), %rsp
      at_ += 4;
      return rebase(signed8(rest, 3));
    }
    if (rest.size() >= 7 && starts_with(rest, {0x48, 0x8d, 0xa5})) {  // lea disp32(%rbp), %rsp
      at_ += 7;
      return rebase(signed32(rest, 3));
    }
    if (starts_with(rest, {0x48, 0x89, 0xec})) {  // mov %rbp, %rsp
      at_ += 3;
      return rebase(0);
    }
    if (starts_with(rest, {0xc5, 0xf8, 0x77})) {  // vzeroupper
      at_ += 3;
      return true;
    }
    return false;
  }

  bool release(std::int64_t bytes) {
    slot_ += bytes;
    return true;
  }

  bool rebase(std::int64_t slot) {
    if (frame_pointer_restored_) {
      return false;
    }
    exit_.base = Frames::kFramePointer;
    slot_ = slot;
    return true;
  }

  bool restore(unsigned dwarf_register) {
    if (dwarf_register == Frames::kStackPointer || exit_.restored_count == exit_.restored.size()) {
      return false;
    }
    exit_.restored[exit_.restored_count++] = {dwarf_register, slot_};
    frame_pointer_restored_ = frame_pointer_restored_ || dwarf_register == Frames::kFramePointer;
    popped_ = true;
    slot_ += 8;
    return true;
  }

  Bytes code_;
  std::size_t at_ = 0;
  std::int64_t slot_ = 0;
  bool popped_ = false;
  bool frame_pointer_restored_ = false;
  Frames::Epilogue exit_;
};

}  // namespace

std::optional<Frames::Epilogue> Frames::find_epilogue(std::span<const std::byte> /*before*/,
                                                      std::span<const std::byte> code) {
  return ExitReader(code).read();
}

}  // namespace sp::arch::x86_64
