// Recognises prologues and epilogues by their instructions (Arm ARM, C6.2).
#include <algorithm>

#include "arch/aarch64/encoding.h"
#include "arch/aarch64/frames.h"

namespace sp::arch::aarch64 {
namespace {

constexpr std::size_t kInstruction = 4;

/// What an instruction does to a frame.
class FrameStep {
 public:
  FrameStep(std::span<const std::byte> code, std::size_t at)
      : word_(read_word(code.subspan(std::min(at, code.size()))).value_or(kUdf)) {}

  [[nodiscard]] bool is(std::uint32_t mask, std::uint32_t value) const {
    return matches(word_, mask, value);
  }
  [[nodiscard]] unsigned bits(unsigned low, unsigned count) const {
    return field(word_, low, count);
  }
  [[nodiscard]] std::int64_t signed_bits(unsigned low, unsigned count) const {
    return static_cast<std::int64_t>(signed_field(word_, low, count));
  }
  [[nodiscard]] unsigned rd() const { return bits(0, 5); }
  [[nodiscard]] unsigned rn() const { return bits(5, 5); }
  [[nodiscard]] unsigned rt2() const { return bits(10, 5); }

  /// The amount that an add or sub of an immediate adds to an X register.
  [[nodiscard]] std::optional<std::int64_t> added() const {
    if (!is(0xbf800000, 0x91000000)) {
      return std::nullopt;
    }
    const auto immediate = static_cast<std::int64_t>(bits(10, 12)) << (bits(22, 1) * 12);
    return bits(30, 1) != 0 ? -immediate : immediate;
  }
  [[nodiscard]] bool is_hint() const { return is(0xfffff01f, 0xd503201f); }  // nop, bti, paciasp
  [[nodiscard]] bool is_return() const {
    return goes_by(RegisterBranch::ret) && (rn() == Frames::kLinkRegister || authenticates(word_));
  }
  [[nodiscard]] bool is_indirect_jump() const { return goes_by(RegisterBranch::br); }
  /// A direct jump's offset.
  [[nodiscard]] std::optional<std::int64_t> jumped() const {
    return is_b(word_) ? std::optional(static_cast<std::int64_t>(offset_26(word_))) : std::nullopt;
  }
  [[nodiscard]] bool transfers() const { return is(0x1c000000, 0x14000000) && !is_hint(); }
  /// Changes only caller-saved registers, and not sp.
  [[nodiscard]] bool leaves_frame_alone() const {
    const bool computes = is(0x1c000000, 0x10000000) || is(0x0e000000, 0x0a000000);
    const bool accesses = is(0x3f000000, 0x39000000) || is(0x3f200c00, 0x38000000);
    const bool stores = accesses && bits(22, 2) == 0;
    return stores ? rn() != Frames::kStackPointer : (computes || accesses) && rd() <= 17;
  }

 private:
  static constexpr std::uint32_t kUdf = 0;

  [[nodiscard]] bool goes_by(RegisterBranch kind) const {
    return is_register_branch(word_) && register_branch(word_) == kind;
  }

  std::uint32_t word_;
};

/// A load or store of one or two 64-bit registers relative to sp.
struct StackAccess {
  std::int64_t slot = 0;   // of the first, from sp as it was before
  std::int64_t moved = 0;  // what sp changed by
  bool is_load = false;
  bool is_vector = false;
  std::size_t count = 1;
  std::array<unsigned, 2> registers{};
};

std::optional<StackAccess> stack_access(const FrameStep& step) {
  StackAccess access;
  access.is_load = step.bits(22, 1) != 0;
  access.is_vector = step.bits(26, 1) != 0;
  access.registers = {step.rd(), step.rt2()};
  if (step.rn() != Frames::kStackPointer) {
    return std::nullopt;
  }
  enum class Mode { post, offset, pre };
  auto mode = Mode::offset;
  std::int64_t offset = 0;
  // The general registers' and, with bit 26 and another size, the vector registers' forms.
  const auto is_pair = [&](std::uint32_t form) {
    return step.is(0xff800000, 0xa8000000 | form) || step.is(0xff800000, 0x6c000000 | form);
  };
  const auto is_single = [&](std::uint32_t mask, std::uint32_t form) {
    return step.is(mask, 0xf8000000 | form) || step.is(mask, 0xfc000000 | form);
  };
  if (is_pair(0x00800000) || is_pair(0x01000000) || is_pair(0x01800000)) {
    mode = is_pair(0x00800000) ? Mode::post : is_pair(0x01000000) ? Mode::offset : Mode::pre;
    access.count = 2;
    offset = 8 * step.signed_bits(15, 7);
  } else if (is_single(0xff800000, 0x01000000)) {
    offset = 8 * static_cast<std::int64_t>(step.bits(10, 12));
  } else if (is_single(0xffa00c00, 0x00000400) || is_single(0xffa00c00, 0x00000c00)) {
    mode = is_single(0xffa00c00, 0x00000400) ? Mode::post : Mode::pre;
    offset = step.signed_bits(12, 9);
  } else {
    return std::nullopt;
  }
  access.slot = mode == Mode::post ? 0 : offset;
  access.moved = mode == Mode::offset ? 0 : offset;
  return access;
}

/// Follows an epilogue to its return.
class ExitReader {
 public:
  ExitReader(std::span<const std::byte> before, std::span<const std::byte> code) : code_(code) {
    if (before.size() >= kInstruction) {
      const FrameStep last(before, before.size() - kInstruction);
      const auto access = stack_access(last);
      // The previous instruction released the frame.
      popped_ = (access && access->is_load && restores_link(*access)) ||
                (last.added() && last.rd() == Frames::kStackPointer);
    }
  }

  std::optional<Frames::Epilogue> read() {
    constexpr std::size_t kLongest = 16;  // instructions
    for (std::size_t at = 0; at < kLongest * kInstruction; at += kInstruction) {
      const FrameStep step(code_, at);
      if (step.is_return()) {
        exit_.return_slot = sp_;
        return exit_;
      }
      if (popped_ && (step.jumped() || step.is_indirect_jump())) {
        exit_.return_slot = sp_;
        exit_.by_jump = true;
        if (const auto jumped = step.jumped()) {
          exit_.jump_target = static_cast<std::int64_t>(at) + *jumped;
        }
        return exit_;
      }
      if (!take(step)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  static bool restores_link(const StackAccess& access) {
    return !access.is_vector &&
           (access.registers[0] == Frames::kLinkRegister ||
            (access.count == 2 && access.registers[1] == Frames::kLinkRegister));
  }

  bool take(const FrameStep& step) {
    if (const auto access = stack_access(step)) {
      return access->is_load && load(*access);
    }
    if (const auto added = step.added(); added && step.rd() == Frames::kStackPointer) {
      if (step.rn() == Frames::kStackPointer) {
        sp_ += *added;
        popped_ = true;
        return true;
      }
      if (step.rn() != Frames::kFramePointer || frame_pointer_restored_) {
        return false;
      }
      exit_.base = Frames::kFramePointer;
      sp_ = *added;
      return true;
    }
    return step.is_hint() || step.leaves_frame_alone();
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
  Frames::Epilogue exit_;
};

}  // namespace

std::optional<Frames::Epilogue> Frames::find_epilogue(std::span<const std::byte> before,
                                                      std::span<const std::byte> code) {
  return ExitReader(before, code).read();
}

Frames::Prologue Frames::read_prologue(std::span<const std::byte> done) {
  constexpr std::size_t kLongest = 64;  // instructions
  std::size_t begin = done.size() / kInstruction * kInstruction;
  const std::size_t end = begin;
  while (begin > 0 && end - begin < kLongest * kInstruction &&
         !FrameStep(done, begin - kInstruction).transfers()) {
    begin -= kInstruction;
  }
  std::int64_t sp = 0;  // from where it was
  std::optional<std::int64_t> saved;
  bool overwritten = false;
  for (std::size_t at = begin; at < end; at += kInstruction) {
    const FrameStep step(done, at);
    if (const auto access = stack_access(step)) {
      for (std::size_t i = 0; i < access->count && !access->is_vector; ++i) {
        if (access->registers[i] == kFramePointer && !access->is_load) {
          saved = sp + access->slot + 8 * static_cast<std::int64_t>(i);
        }
      }
      sp += access->moved;
    } else if (const auto added = step.added(); added && step.rn() == Frames::kStackPointer) {
      sp += step.rd() == Frames::kStackPointer ? *added : 0;
      overwritten = overwritten || step.rd() == kFramePointer;
    } else if (added && step.rd() == Frames::kStackPointer) {
      return {};
    }
  }
  Prologue entry;
  entry.lowered = -sp;
  if (overwritten && saved) {
    entry.frame_pointer_slot = *saved - sp;
  }
  return entry;
}

}  // namespace sp::arch::aarch64
