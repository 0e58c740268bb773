// How functions begin and end, read off their instructions (Arm ARM, C6.2).
#include <cstring>

#include "arch/aarch64/frames.h"

namespace sp::arch::aarch64 {
namespace {

constexpr std::size_t kInstruction = 4;
constexpr unsigned kLinkRegister = 30;
constexpr unsigned kSp = 31;

class Word {
 public:
  explicit Word(std::span<const std::byte> code, std::size_t at) {
    if (at + kInstruction <= code.size()) {
      std::memcpy(&word_, code.data() + at, sizeof(word_));
    }
  }

  [[nodiscard]] bool is(std::uint32_t mask, std::uint32_t value) const {
    return (word_ & mask) == value;
  }
  [[nodiscard]] unsigned field(unsigned low, unsigned bits) const {
    return (word_ >> low) & ((1U << bits) - 1);
  }
  [[nodiscard]] std::int64_t signed_field(unsigned low, unsigned bits) const {
    const auto value = static_cast<std::int64_t>(field(low, bits));
    return value - ((value >> (bits - 1)) << bits);
  }
  [[nodiscard]] unsigned rd() const { return field(0, 5); }
  [[nodiscard]] unsigned rn() const { return field(5, 5); }
  [[nodiscard]] unsigned rt2() const { return field(10, 5); }

  /// add or sub of an immediate to an X register: what is added.
  [[nodiscard]] std::optional<std::int64_t> added() const {
    if (!is(0xbf800000, 0x91000000)) {
      return std::nullopt;
    }
    const auto immediate = static_cast<std::int64_t>(field(10, 12)) << (field(22, 1) * 12);
    return field(30, 1) != 0 ? -immediate : immediate;
  }
  [[nodiscard]] bool is_hint() const { return is(0xfffff01f, 0xd503201f); }  // nop, bti, paciasp
  [[nodiscard]] bool is_return() const {
    return is(0xffffffff, 0xd65f03c0) || is(0xfffffbff, 0xd65f0bff);  // ret, retaa, retab
  }
  [[nodiscard]] bool is_jump() const { return is(0xfc000000, 0x14000000); }
  [[nodiscard]] bool is_indirect_jump() const {
    return is(0xfffffc1f, 0xd61f0000) || is(0xfefff800, 0xd61f0800);  // br, braa and its like
  }
  [[nodiscard]] bool transfers() const { return is(0x1c000000, 0x14000000) && !is_hint(); }
  /// Changes no register but those that a caller expects nothing of, and nothing beside sp.
  [[nodiscard]] bool leaves_frame_alone() const {
    const bool computes = is(0x1c000000, 0x10000000) || is(0x0e000000, 0x0a000000);
    const bool accesses = is(0x3f000000, 0x39000000) || is(0x3f200c00, 0x38000000);
    const bool stores = accesses && field(22, 2) == 0;
    return stores ? rn() != kSp : (computes || accesses) && rd() <= 17;
  }

 private:
  std::uint32_t word_ = 0;  // UDF #0, where there is no whole one
};

/// A load or store of one or two 64-bit registers beside sp.
struct StackAccess {
  std::int64_t slot = 0;   // of the first, from sp as it was before
  std::int64_t moved = 0;  // what sp changed by
  bool is_load = false;
  bool is_vector = false;
  std::size_t count = 1;
  std::array<unsigned, 2> registers{};
};

std::optional<StackAccess> stack_access(const Word& word) {
  StackAccess access;
  access.is_load = word.field(22, 1) != 0;
  access.is_vector = word.field(26, 1) != 0;
  access.registers = {word.rd(), word.rt2()};
  if (word.rn() != kSp) {
    return std::nullopt;
  }
  enum class Mode { post, offset, pre };
  auto mode = Mode::offset;
  std::int64_t offset = 0;
  // The general registers' and, with bit 26 and another size, the vector registers' forms.
  const auto is_pair = [&](std::uint32_t form) {
    return word.is(0xff800000, 0xa8000000 | form) || word.is(0xff800000, 0x6c000000 | form);
  };
  const auto is_single = [&](std::uint32_t mask, std::uint32_t form) {
    return word.is(mask, 0xf8000000 | form) || word.is(mask, 0xfc000000 | form);
  };
  if (is_pair(0x00800000) || is_pair(0x01000000) || is_pair(0x01800000)) {
    mode = is_pair(0x00800000) ? Mode::post : is_pair(0x01000000) ? Mode::offset : Mode::pre;
    access.count = 2;
    offset = 8 * word.signed_field(15, 7);
  } else if (is_single(0xff800000, 0x01000000)) {
    offset = 8 * static_cast<std::int64_t>(word.field(10, 12));
  } else if (is_single(0xffa00c00, 0x00000400) || is_single(0xffa00c00, 0x00000c00)) {
    mode = is_single(0xffa00c00, 0x00000400) ? Mode::post : Mode::pre;
    offset = word.signed_field(12, 9);
  } else {
    return std::nullopt;
  }
  access.slot = mode == Mode::post ? 0 : offset;
  access.moved = mode == Mode::offset ? 0 : offset;
  return access;
}

/// Does what the rest of a function does.
class ExitReader {
 public:
  ExitReader(std::span<const std::byte> before, std::span<const std::byte> code) : code_(code) {
    if (before.size() >= kInstruction) {
      const Word last(before, before.size() - kInstruction);
      const auto access = stack_access(last);
      // The frame was given up just now.
      popped_ = (access && access->is_load && restores_link(*access)) ||
                (last.added() && last.rd() == kSp);
    }
  }

  std::optional<Frames::Exit> read() {
    constexpr std::size_t kLongest = 16;  // instructions
    for (std::size_t at = 0; at < kLongest * kInstruction; at += kInstruction) {
      const Word word(code_, at);
      if (word.is_return()) {
        exit_.return_slot = sp_;
        return exit_;
      }
      if (popped_ && (word.is_jump() || word.is_indirect_jump())) {
        exit_.return_slot = sp_;
        exit_.by_jump = true;
        if (word.is_jump()) {
          exit_.jump_target = static_cast<std::int64_t>(at) + 4 * word.signed_field(0, 26);
        }
        return exit_;
      }
      if (!take(word)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  static bool restores_link(const StackAccess& access) {
    return !access.is_vector && (access.registers[0] == kLinkRegister ||
                                 (access.count == 2 && access.registers[1] == kLinkRegister));
  }

  bool take(const Word& word) {
    if (const auto access = stack_access(word)) {
      return access->is_load && load(*access);
    }
    if (const auto added = word.added(); added && word.rd() == kSp) {
      if (word.rn() == kSp) {
        sp_ += *added;
        popped_ = true;
        return true;
      }
      if (word.rn() != Frames::kFramePointer || frame_pointer_restored_) {
        return false;
      }
      exit_.base = Frames::kFramePointer;
      sp_ = *added;
      return true;
    }
    return word.is_hint() || word.leaves_frame_alone();
  }

  bool load(const StackAccess& access) {
    for (std::size_t i = 0; i < access.count && !access.is_vector; ++i) {
      if (exit_.restored_count == exit_.restored.size()) {
        return false;
      }
      const unsigned loaded = access.registers[i];
      exit_.restored[exit_.restored_count++] = {
          loaded, sp_ + access.slot + 8 * static_cast<std::int64_t>(i)};
      frame_pointer_restored_ = frame_pointer_restored_ || loaded == Frames::kFramePointer;
    }
    popped_ = popped_ || restores_link(access);
    sp_ += access.moved;
    return true;
  }

  std::span<const std::byte> code_;
  std::int64_t sp_ = 0;
  bool popped_ = false;
  bool frame_pointer_restored_ = false;
  Frames::Exit exit_;
};

}  // namespace

std::optional<Frames::Exit> Frames::find_exit(std::span<const std::byte> before,
                                              std::span<const std::byte> code) {
  return ExitReader(before, code).read();
}

Frames::Entry Frames::read_entry(std::span<const std::byte> done) {
  constexpr std::size_t kLongest = 64;  // instructions
  std::size_t begin = done.size() / kInstruction * kInstruction;
  const std::size_t end = begin;
  while (begin > 0 && end - begin < kLongest * kInstruction &&
         !Word(done, begin - kInstruction).transfers()) {
    begin -= kInstruction;
  }
  std::int64_t sp = 0;  // from where it was
  std::optional<std::int64_t> saved;
  bool overwritten = false;
  for (std::size_t at = begin; at < end; at += kInstruction) {
    const Word word(done, at);
    if (const auto access = stack_access(word)) {
      for (std::size_t i = 0; i < access->count && !access->is_vector; ++i) {
        if (access->registers[i] == kFramePointer && !access->is_load) {
          saved = sp + access->slot + 8 * static_cast<std::int64_t>(i);
        }
      }
      sp += access->moved;
    } else if (const auto added = word.added(); added && word.rn() == kSp) {
      sp += word.rd() == kSp ? *added : 0;
      overwritten = overwritten || word.rd() == kFramePointer;
    } else if (added && word.rd() == kSp) {
      return {};
    }
  }
  Entry entry;
  entry.lowered = -sp;
  if (overwritten && saved) {
    entry.frame_pointer_slot = *saved - sp;
  }
  return entry;
}

}  // namespace sp::arch::aarch64
