#include "arch/x86_64/frames.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace sp::arch::x86_64 {
namespace {

using Bytes = std::span<const std::byte>;

unsigned byte_at(Bytes bytes, std::size_t at) { return std::to_integer<unsigned>(bytes[at]); }

bool starts_with(Bytes bytes, std::initializer_list<unsigned> wanted) {
  if (bytes.size() < wanted.size()) {
    return false;
  }
  std::size_t at = 0;
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](unsigned value) { return byte_at(bytes, at++) == value; });
}

/// The bytes from `distance` before the end; empty where there are fewer.
Bytes tail(Bytes bytes, std::size_t distance) {
  return bytes.size() < distance ? Bytes{} : bytes.last(distance);
}

std::int32_t signed32(Bytes bytes, std::size_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

std::int8_t signed8(Bytes bytes, std::size_t at) {
  return static_cast<std::int8_t>(byte_at(bytes, at));
}

/// Length of FF /2 (call r/m64) with its ModRM, SIB and displacement; 0 where it is not one.
std::size_t indirect_call_length(Bytes bytes) {
  if (bytes.size() < 2 || byte_at(bytes, 0) != 0xff) {
    return 0;
  }
  const unsigned modrm = byte_at(bytes, 1);
  const unsigned mod = modrm >> 6U;
  const unsigned rm = modrm & 7U;
  if (((modrm >> 3U) & 7U) != 2) {
    return 0;
  }
  if (mod == 3) {
    return 2;
  }
  std::size_t length = 2;
  bool displacement32 = mod == 2 || (mod == 0 && rm == 5);
  if (rm == 4) {
    if (bytes.size() < 3) {
      return 0;
    }
    length += 1;
    displacement32 = displacement32 || (mod == 0 && (byte_at(bytes, 2) & 7U) == 5);
  }
  return length + (mod == 1 ? 1U : 0U) + (displacement32 ? 4U : 0U);
}

// Hardware numbers order the registers rax rcx rdx rbx rsp rbp rsi rdi, DWARF does otherwise.
constexpr std::array<unsigned, 16> kDwarfOfHardware = {0, 2, 1,  3,  7,  6,  4,  5,
                                                       8, 9, 10, 11, 12, 13, 14, 15};

/// Follows the instructions of an epilogue, one call of take() for each.
class ExitReader {
 public:
  explicit ExitReader(Bytes code) : code_(code) {}

  std::optional<Frames::Exit> read() {
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
      return false;  // nothing shows that this jump is on the way out
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
  Frames::Exit exit_;
};

}  // namespace

bool Frames::ends_in_call(std::span<const std::byte> before) {
  if (starts_with(tail(before, 5), {0xe8})) {
    return true;
  }
  for (std::size_t length = 2; length <= 7; ++length) {
    if (indirect_call_length(tail(before, length)) == length) {
      return true;
    }
  }
  return false;
}

std::optional<std::int64_t> Frames::called(std::span<const std::byte> before) {
  const Bytes call = tail(before, 5);
  return starts_with(call, {0xe8}) ? std::optional<std::int64_t>(signed32(call, 1)) : std::nullopt;
}

bool Frames::is_signal_return(std::span<const std::byte> before, std::span<const std::byte> code) {
  return starts_with(code, {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}) ||
         starts_with(code, {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}) ||
         (starts_with(code, {0x0f, 0x05}) &&
          (starts_with(tail(before, 7), {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00}) ||
           starts_with(tail(before, 5), {0xb8, 0x0f, 0x00, 0x00, 0x00})));
}

std::int64_t Frames::signal_slot(unsigned dwarf_register) {
  // sp is at a ucontext_t (the handler's return popped the word below it), whose registers begin
  // at byte 40 in the order of the kernel's struct sigcontext: r8-r15 rdi rsi rbp rbx rdx rax rcx
  // rsp rip. Here by DWARF number.
  constexpr std::array<std::int64_t, 17> kPlace = {13, 12, 14, 11, 9, 8, 10, 15, 0,
                                                   1,  2,  3,  4,  5, 6, 7,  16};
  return 40 + 8 * kPlace[dwarf_register];
}

std::optional<Frames::Exit> Frames::find_exit(std::span<const std::byte> /*before*/,
                                              std::span<const std::byte> code) {
  return ExitReader(code).read();
}

std::optional<std::int64_t> Frames::frameless_return_slot(std::span<const std::byte> before,
                                                          std::span<const std::byte> code) {
  if (starts_with(code, {0xf3, 0x0f, 0x1e, 0xfa})) {  // endbr64
    return frameless_return_slot({}, code.subspan(4));
  }
  if (starts_with(code, {0xff, 0x35})) {  // push link_map(%rip), above the pushed index
    return 8;
  }
  if (starts_with(tail(before, 6), {0xff, 0x35}) &&
      (starts_with(code, {0xff, 0x25}) || starts_with(code, {0xf2, 0xff, 0x25}))) {
    return 16;
  }
  if (starts_with(code, {0xff, 0x25}) || starts_with(code, {0xf2, 0xff, 0x25})) {
    return 0;  // jmp *slot(%rip)
  }
  if (code.size() >= 6 && starts_with(code, {0x68}) &&
      (byte_at(code, 5) == 0xe9 || byte_at(code, 5) == 0xf2)) {
    return 0;  // push $index; jmp PLT0
  }
  if (starts_with(tail(before, 5), {0x68}) &&
      (starts_with(code, {0xe9}) || starts_with(code, {0xf2, 0xe9}))) {
    return 8;
  }
  if (starts_with(code, {0x55, 0x48, 0x89, 0xe5})) {  // push %rbp; mov %rsp, %rbp
    return 0;
  }
  if (starts_with(tail(before, 1), {0x55}) && starts_with(code, {0x48, 0x89, 0xe5})) {
    return 8;
  }
  return std::nullopt;
}

}  // namespace sp::arch::x86_64
