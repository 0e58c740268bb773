#include "supervisor/unwinding/canonical_cfi.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <vector>

namespace sp::supervisor {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (const unsigned value : values) {
    out.push_back(static_cast<std::byte>(value));
  }
  return out;
}

template <typename T>
T read(const CanonicalCfi& form, std::size_t at) {
  T value{};
  std::memcpy(&value, form.bytes.data() + at, sizeof(value));
  return value;
}

/// The FDE's instructions, with what pads them.
std::vector<std::byte> program_of(const CanonicalCfi& form) {
  constexpr std::size_t kHead = 4 + 4 + 8 + 8 + 1;
  return {form.bytes.begin() + static_cast<std::ptrdiff_t>(form.fde_offset + kHead),
          form.bytes.end()};
}

Fde fde(const std::vector<std::byte>& program) {
  Fde made;
  made.begin = 0x1000;
  made.end = 0x1080;
  made.data_alignment = -8;
  made.return_address_register = 16;
  made.program = program;
  return made;
}

TEST(CanonicalCfi, says_where_the_code_is_in_plain_shifted_addresses) {
  const auto form = make_canonical_cfi(fde({}), 0x8000'0000'0000'0000, false);
  ASSERT_TRUE(form);
  EXPECT_EQ(read<std::uint32_t>(*form, 4), 0U);  // a CIE
  EXPECT_EQ(form->fde_offset % 8, 0U);
  EXPECT_EQ(read<std::uint32_t>(*form, 0) + 4, form->fde_offset);
  EXPECT_EQ(read<std::uint32_t>(*form, form->fde_offset + 4), form->fde_offset + 4);
  EXPECT_EQ(read<std::uint64_t>(*form, form->fde_offset + 8), 0x8000'0000'0000'1000U);
  EXPECT_EQ(read<std::uint64_t>(*form, form->fde_offset + 16), 0x80U);
}

TEST(CanonicalCfi, drops_signing_marks_but_not_operands_that_look_like_them) {
  // advance 1; negate_ra_state; def_cfa_offset 0x2d; expression r1 of two bytes 2d 2d; nop
  const auto program = bytes({0x41, 0x2d, 0x0e, 0x2d, 0x10, 0x01, 0x02, 0x2d, 0x2d, 0x00});
  const auto form = make_canonical_cfi(fde(program), 0, true);
  ASSERT_TRUE(form);
  auto wanted = program;
  wanted[1] = std::byte{0};
  auto got = program_of(*form);
  ASSERT_GE(got.size(), wanted.size());
  got.resize(wanted.size());
  EXPECT_EQ(got, wanted);
}

TEST(CanonicalCfi, refuses_programs_that_cannot_be_followed) {
  EXPECT_FALSE(make_canonical_cfi(fde(bytes({0x2d})), 0, false));
  EXPECT_FALSE(make_canonical_cfi(fde(bytes({0x3f})), 0, false));              // not an instruction
  EXPECT_FALSE(make_canonical_cfi(fde(bytes({0x0f, 0x20, 0x11})), 0, false));  // cut off
  EXPECT_FALSE(make_canonical_cfi(fde(bytes({0x03, 0x01})), 0, false));
}

TEST(CanonicalCfi, shifts_set_locations) {
  const auto program = bytes({0x01, 0x10, 0x10, 0, 0, 0, 0, 0, 0});
  const auto form = make_canonical_cfi(fde(program), 0x100000, false);
  ASSERT_TRUE(form);
  const auto got = program_of(*form);
  std::uint64_t location = 0;
  std::memcpy(&location, got.data() + 1, sizeof(location));
  EXPECT_EQ(location, 0x101010U);
}

TEST(CanonicalCfi, keeps_the_mark_of_signal_frames) {
  auto signal = fde({});
  signal.signal_frame = true;
  const auto form = make_canonical_cfi(signal, 0, false);
  ASSERT_TRUE(form);
  EXPECT_EQ(std::memcmp(form->bytes.data() + 9, "zRS", 4), 0);
}

}  // namespace
}  // namespace sp::supervisor
