#include "core/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace {

using sp::core::cut;
using sp::core::read_at;
using sp::core::text_at;

constexpr std::array kBytes{std::byte{'a'}, std::byte{'b'}, std::byte{0}, std::byte{'c'}};

TEST(Bytes, are_read_only_where_they_are_all_there) {
  EXPECT_EQ(read_at<std::uint16_t>(kBytes, 0), 0x6261);
  EXPECT_EQ(read_at<std::uint16_t>(kBytes, 2), 0x6300);
  EXPECT_EQ(read_at<std::uint16_t>(kBytes, 3), std::nullopt);
  EXPECT_EQ(read_at<std::uint16_t>(kBytes, 4), std::nullopt);
  EXPECT_EQ(read_at<std::uint8_t>(kBytes, ~std::uint64_t{0}), std::nullopt);
}

TEST(Bytes, are_cut_at_their_end) {
  EXPECT_EQ(cut(kBytes, 1, 2).size(), 2U);
  EXPECT_EQ(cut(kBytes, 1, ~std::uint64_t{0}).size(), 3U);
  EXPECT_EQ(cut(kBytes, 4, 1).size(), 0U);
  EXPECT_EQ(cut(kBytes, ~std::uint64_t{0}, 1).size(), 0U);
}

TEST(Bytes, are_text_only_where_a_nul_ends_them) {
  EXPECT_EQ(text_at(kBytes, 0), "ab");
  EXPECT_EQ(text_at(kBytes, 2), "");
  EXPECT_EQ(text_at(kBytes, 3), "");
  EXPECT_EQ(text_at(kBytes, 9), "");
}

}  // namespace
