#include "arch/aarch64/syscall_sites.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "arch/x86_64/syscall_sites.h"
#include "unit/arch/bytes.h"

namespace sp::arch {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"rt_sigprocmask", "clone"};

TEST(SyscallSites, are_found_on_x86_64_where_the_number_is_loaded_and_the_call_follows) {
  // nop; mov $14, %eax; mov $8, %r10d; syscall
  const auto text = bytes_of("90 b8 0e 00 00 00 41 ba 08 00 00 00 0f 05 c3");
  const std::vector<SyscallSite> expected = {{14, 1, 12}};
  EXPECT_EQ(x86_64::find_syscall_sites(text, kNames), expected);
}

TEST(SyscallSites, are_found_on_x86_64_where_the_number_is_loaded_in_the_longer_encoding) {
  // mov $14, %rax; syscall; mov $56, %eax; syscall
  const auto text = bytes_of("48 c7 c0 0e 00 00 00 0f 05 c7 c0 38 00 00 00 0f 05");
  const std::vector<SyscallSite> expected = {{14, 1, 7}, {56, 9, 15}};
  EXPECT_EQ(x86_64::find_syscall_sites(text, kNames), expected);
}

TEST(SyscallSites, of_other_calls_are_left_out_on_x86_64) {
  const auto text = bytes_of("b8 0d 00 00 00 0f 05 b8 38 00 00 00 0f 05");
  const std::vector<SyscallSite> expected = {{56, 7, 12}};
  EXPECT_EQ(x86_64::find_syscall_sites(text, kNames), expected);
}

TEST(SyscallSites, need_that_nothing_transfers_in_between_on_x86_64) {
  // mov $14, %eax; jmp .; syscall
  const auto text = bytes_of("b8 0e 00 00 00 eb fe 0f 05");
  EXPECT_TRUE(x86_64::find_syscall_sites(text, kNames).empty());
  // The bytes of a number inside of another instruction: movabs $.., %rdx; syscall
  const auto hidden = bytes_of("48 ba b8 0e 00 00 00 00 00 00 0f 05");
  EXPECT_TRUE(x86_64::find_syscall_sites(hidden, kNames).empty());
}

TEST(SyscallSites, at_the_very_ends_of_the_text_are_no_accesses_outside_on_x86_64) {
  EXPECT_TRUE(x86_64::find_syscall_sites(bytes_of("0f"), kNames).empty());
  EXPECT_TRUE(x86_64::find_syscall_sites(bytes_of("0f 05"), kNames).empty());
  EXPECT_TRUE(x86_64::find_syscall_sites({}, kNames).empty());
}

TEST(SyscallSites, are_found_on_aarch64) {
  // mov x8, #135; mov x3, #8; svc #0; mov w8, #220; svc #0; mov x8, #134; svc #0
  const auto text = bytes_of(
      "e8 10 80 d2 03 01 80 d2 01 00 00 d4 88 1b "
      "80 52 01 00 00 d4 c8 10 80 d2 01 00 00 d4");
  const std::vector<SyscallSite> expected = {{135, 0, 8}, {220, 12, 16}};
  EXPECT_EQ(aarch64::find_syscall_sites(text, kNames), expected);
}

TEST(SyscallSites, need_that_nothing_transfers_in_between_on_aarch64) {
  // mov x8, #135; b .; svc #0
  const auto text = bytes_of("e8 10 80 d2 00 00 00 14 01 00 00 d4");
  EXPECT_TRUE(aarch64::find_syscall_sites(text, kNames).empty());
}

}  // namespace
}  // namespace sp::arch
