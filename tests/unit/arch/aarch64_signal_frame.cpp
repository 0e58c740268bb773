#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "arch/aarch64/signal_frame.h"

namespace sp::arch::aarch64 {
namespace {

using Bytes = std::vector<std::byte>;

// A kernel's own frame: fpsimd_context at byte 464, followed by sve_context.
constexpr std::size_t kVectorRecord = 464;
constexpr std::size_t kScalableRecord = kVectorRecord + 528;

// On a CPU with vectors of 32 bytes: Z0-Z31, P0-P15, FFR.
constexpr std::size_t kScalableRegisters = 32 * 32 + 17 * 4;

template <typename Value>
Value at(const Bytes& bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// NT_PRFPREG: the registers, FPSR, FPCR, 8 bytes of padding.
Bytes vector_set() {
  Bytes set(528, std::byte{7});
  set[512] = std::byte{1};
  set[516] = std::byte{2};
  return set;
}

/// NT_ARM_SVE of such a CPU.
Bytes scalable_set(std::uint16_t flags) {
  constexpr std::uint16_t kLength = 32;
  constexpr std::uint32_t kSize = 16 + kScalableRegisters + 12 + 16;  // and FPSR, FPCR
  Bytes set(kSize, std::byte{9});
  std::memcpy(set.data(), &kSize, sizeof kSize);
  std::memcpy(set.data() + 8, &kLength, sizeof kLength);
  std::memcpy(set.data() + 12, &flags, sizeof flags);
  return set;
}

TEST(SignalFrame, has_registers_mask_and_vectors_where_the_kernel_looks_for_them) {
  Registers registers;
  registers.x[3] = 33;
  registers.sp = 0x1000;
  registers.pc = 0x2000;
  registers.pstate = 0x60000000;
  const Bytes frame = signal_frame(registers, 0x123, vector_set(), {});
  ASSERT_EQ(frame.size(), kScalableRecord + 16);
  EXPECT_EQ(at<std::uint64_t>(frame, 40), 0x123U);
  EXPECT_EQ(at<std::uint64_t>(frame, 184 + 3 * 8), 33U);
  EXPECT_EQ(at<std::uint64_t>(frame, 184 + 31 * 8), 0x1000U);
  EXPECT_EQ(at<std::uint64_t>(frame, 184 + 32 * 8), 0x2000U);
  EXPECT_EQ(at<std::uint64_t>(frame, 184 + 33 * 8), 0x60000000U);
  EXPECT_EQ(at<std::uint32_t>(frame, kVectorRecord), 0x46508001U);
  EXPECT_EQ(at<std::uint32_t>(frame, kVectorRecord + 4), 528U);
  EXPECT_EQ(at<std::uint8_t>(frame, kVectorRecord + 8), 1U);
  EXPECT_EQ(at<std::uint8_t>(frame, kVectorRecord + 12), 2U);
  EXPECT_EQ(at<std::uint8_t>(frame, kVectorRecord + 16), 7U);
  EXPECT_TRUE(std::all_of(frame.begin() + kScalableRecord, frame.end(),
                          [](std::byte byte) { return byte == std::byte{}; }));
}

TEST(SignalFrame, has_scalable_registers_where_they_are_in_use) {
  const Bytes plain = signal_frame({}, 0, vector_set(), scalable_set(0));
  EXPECT_EQ(plain.size(), kScalableRecord + 16);
  const Bytes frame = signal_frame({}, 0, vector_set(), scalable_set(1));
  constexpr std::size_t kRecord = 16 + kScalableRegisters + 12;  // to a multiple of 16
  ASSERT_EQ(frame.size(), kScalableRecord + kRecord + 16);
  EXPECT_EQ(at<std::uint32_t>(frame, kScalableRecord), 0x53564501U);
  EXPECT_EQ(at<std::uint32_t>(frame, kScalableRecord + 4), kRecord);
  EXPECT_EQ(at<std::uint16_t>(frame, kScalableRecord + 8), 32U);
  EXPECT_EQ(at<std::uint8_t>(frame, kScalableRecord + 16), 9U);
}

TEST(SignalFrame, is_none_without_vectors_and_has_no_scalable_registers_that_are_not_whole) {
  EXPECT_TRUE(signal_frame({}, 0, Bytes(100), {}).empty());
  Bytes streaming(16);  // a header alone: the other mode's registers are in use
  streaming[0] = std::byte{16};
  Bytes cut = scalable_set(1);
  cut.resize(cut.size() / 2);
  for (const Bytes& set : {streaming, cut, Bytes(3)}) {
    EXPECT_FALSE(is_scalable(set));
    EXPECT_EQ(signal_frame({}, 0, vector_set(), set).size(), kScalableRecord + 16);
  }
}

}  // namespace
}  // namespace sp::arch::aarch64
