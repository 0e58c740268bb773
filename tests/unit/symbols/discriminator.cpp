#include "symbols/discriminator.h"

#include <gtest/gtest.h>

namespace sp::symbols {
namespace {

void expect_unpacked(std::uint32_t packed, std::uint32_t base, std::uint32_t copies) {
  EXPECT_EQ(unpacked_discriminator(packed).base, base) << packed;
  EXPECT_EQ(unpacked_discriminator(packed).copies, copies) << packed;
}

// Worked out from the comment in LLVM's DebugInfoMetadata.h.
TEST(Discriminator, has_a_base_and_a_number_of_copies) {
  expect_unpacked(0, 0, 1);
  expect_unpacked(1U << 1U, 1, 1);
  expect_unpacked(31U << 1U, 31, 1);
  // 32: the lowest five bits 0, a 1, and 1 above it.
  expect_unpacked((1U << 6U) | (1U << 7U), 32, 1);
  // No base, 4 copies; base 2, 4 copies.
  expect_unpacked(1U | (4U << 2U), 0, 4);
  expect_unpacked((2U << 1U) | (4U << 8U), 2, 4);
  expect_unpacked((1U << 6U) | (1U << 7U) | (4U << 15U), 32, 4);
}

}  // namespace
}  // namespace sp::symbols
