#include "arch/aarch64/signal_frame.h"

#include <algorithm>
#include <cstring>

namespace sp::arch::aarch64 {
namespace {

// Linux, arch/arm64/include/uapi/asm/{sigcontext,ucontext,ptrace}.h; repeated here so that every
// host can build this.
constexpr std::size_t kStackFlags = 24;  // uc_stack.ss_flags
constexpr std::size_t kMask = 40;
constexpr std::size_t kRegisters = 176 + 8;  // uc_mcontext, behind its fault_address
constexpr std::size_t kRecords = 464;
constexpr std::size_t kRecordAlignment = 16;
constexpr std::size_t kRecordHead = 8;                 // magic, size
constexpr std::uint32_t kNoStack = ~std::uint32_t{0};  // the kernel rejects it and goes on

constexpr std::uint32_t kVectorMagic = 0x46508001;
constexpr std::size_t kVectorRegisters = 512;
constexpr std::size_t kVectorControls =
    8;  // FPSR and FPCR: in front of them in a frame, else behind
constexpr std::size_t kVectorSet = kVectorRegisters + 16;

constexpr std::uint32_t kScalableMagic = 0x53564501;
struct ScalableHead {  // struct user_sve_header
  std::uint32_t size = 0;
  std::uint32_t max_size = 0;
  std::uint16_t length = 0;  // of a vector, bytes
  std::uint16_t max_length = 0;
  std::uint16_t flags = 0;
  std::uint16_t reserved = 0;
};
constexpr std::uint16_t kScalableFlag = 1;  // else the set holds the vector registers
/// Z0-Z31, P0-P15 and FFR, each predicate an eighth of a vector.
constexpr std::size_t scalable_size(std::size_t length) { return 32 * length + 17 * length / 8; }

ScalableHead head_of(std::span<const std::byte> set) {
  ScalableHead head;
  if (set.size() >= sizeof head) {
    std::memcpy(&head, set.data(), sizeof head);
  }
  return head;
}

template <typename Value>
void put(std::span<std::byte> frame, std::size_t at, const Value& value) {
  std::memcpy(frame.data() + at, &value, sizeof value);
}

/// Adds a record and returns its bytes behind the head.
std::span<std::byte> add_record(std::vector<std::byte>& frame, std::uint32_t magic,
                                std::size_t content) {
  const std::size_t at = frame.size();
  const std::size_t size =
      (kRecordHead + content + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
  frame.resize(at + size);
  put(frame, at, magic);
  put(frame, at + sizeof magic, static_cast<std::uint32_t>(size));
  return std::span(frame).subspan(at + kRecordHead);
}

}  // namespace

bool is_scalable(std::span<const std::byte> set) {
  const ScalableHead head = head_of(set);
  return (head.flags & kScalableFlag) != 0 &&
         set.size() >= sizeof head + scalable_size(head.length);
}

std::vector<std::byte> signal_frame(const Registers& registers, std::uint64_t mask,
                                    std::span<const std::byte> vector,
                                    std::span<const std::byte> scalable) {
  std::vector<std::byte> frame(kRecords);
  put(frame, kStackFlags, kNoStack);
  put(frame, kMask, mask);
  put(frame, kRegisters, registers);
  if (vector.size() != kVectorSet) {
    return {};
  }
  const auto plain = add_record(frame, kVectorMagic, kVectorControls + kVectorRegisters);
  std::copy_n(vector.begin() + kVectorRegisters, kVectorControls, plain.begin());
  std::copy_n(vector.begin(), kVectorRegisters, plain.begin() + kVectorControls);

  if (is_scalable(scalable)) {
    const ScalableHead head = head_of(scalable);
    const std::size_t size = scalable_size(head.length);
    constexpr std::size_t kLengthAndFlags = 8;
    const auto record = add_record(frame, kScalableMagic, kLengthAndFlags + size);
    put(record, 0, head.length);
    std::copy_n(scalable.begin() + sizeof head, size, record.begin() + kLengthAndFlags);
  }
  frame.resize(frame.size() + kRecordAlignment);  // the last has no magic and no size
  return frame;
}

}  // namespace sp::arch::aarch64
