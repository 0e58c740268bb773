#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "arch/aarch64/isa.h"
#include "arch/x86_64/isa.h"

namespace sp::arch {
namespace {

/// Name -> number from the `#define __NR_name number` lines of a header; empty if it is missing.
std::map<std::string, int> numbers_of(const std::string& header) {
  std::map<std::string, int> numbers;
  std::ifstream in(header);
  const std::regex define(R"(^#define __NR(3264)?_(\w+)\s+(\d+)\s*$)");
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, define)) {
      numbers[match[2]] = std::stoi(match[3]);
    }
  }
  return numbers;
}

TEST(SyscallNames, are_those_of_the_x86_64_header) {
  const auto numbers = numbers_of("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  if (numbers.empty()) {
    GTEST_SKIP() << "this machine has no asm/unistd_64.h";
  }
  EXPECT_GT(numbers.size(), 300U);
  for (const auto& [name, number] : numbers) {
    if (number > 467) {
      continue;  // newer than our table
    }
    EXPECT_EQ(x86_64::syscall_name(number), name) << number;
  }
}

TEST(SyscallNames, are_those_of_the_generic_header) {
  auto numbers = numbers_of("/usr/include/asm-generic/unistd.h");
  if (numbers.empty()) {
    GTEST_SKIP() << "this machine has no asm-generic/unistd.h";
  }
  // The header's entries for other CPUs, and its markers.
  for (const char* other : {"sync_file_range2", "fstatat", "arch_specific_syscall", "syscalls"}) {
    numbers.erase(other);
  }
  EXPECT_GT(numbers.size(), 290U);
  for (const auto& [name, number] : numbers) {
    const bool for_32_bit_only = number >= 403 && number < 424;
    if (number > 467 || for_32_bit_only) {
      continue;
    }
    EXPECT_EQ(aarch64::syscall_name(number), name) << number;
  }
  EXPECT_EQ(aarch64::syscall_name(79), "newfstatat");
  EXPECT_EQ(aarch64::syscall_name(84), "sync_file_range");
}

TEST(SyscallNames, are_empty_outside_of_the_table) {
  for (const int number : {-1, -2147483647, 335, 423, 100000, 2147483647}) {
    EXPECT_EQ(x86_64::syscall_name(number), "") << number;
    EXPECT_EQ(aarch64::syscall_name(number), "") << number;
  }
}

x86_64::Registers x86_after(std::int64_t number, std::int64_t result) {
  x86_64::Registers registers;
  registers.orig_rax = static_cast<std::uint64_t>(number);
  registers.rax = static_cast<std::uint64_t>(result);
  registers.rip = 0x401002;
  registers.rdi = 5;
  return registers;
}

TEST(X86Syscall, is_left_where_orig_rax_holds_a_number) {
  EXPECT_EQ(x86_64::leaving_syscall(x86_after(232, -EINTR)), 232);
  EXPECT_EQ(x86_64::leaving_syscall(x86_after(0, 17)), 0);
  EXPECT_EQ(x86_64::leaving_syscall(x86_after(-1, -EINTR)), std::nullopt);
}

TEST(X86Syscall, eintr_and_restarts_are_told_apart) {
  EXPECT_TRUE(x86_64::returns_eintr(x86_after(232, -EINTR)));
  EXPECT_FALSE(x86_64::returns_eintr(x86_after(-1, -EINTR)));
  EXPECT_FALSE(x86_64::returns_eintr(x86_after(232, 3)));
  for (const int restart : {-512, -513, -514, -516}) {
    EXPECT_TRUE(x86_64::will_restart(x86_after(7, restart)));
    EXPECT_FALSE(x86_64::returns_eintr(x86_after(7, restart)));
    EXPECT_FALSE(x86_64::will_restart(x86_after(-1, restart)));
  }
  EXPECT_FALSE(x86_64::will_restart(x86_after(7, -515)));
  EXPECT_FALSE(x86_64::will_restart(x86_after(7, -EINTR)));
}

TEST(X86Syscall, rewound_is_left_to_the_kernel_to_restart) {
  x86_64::Registers registers = x86_after(232, -EINTR);
  x86_64::restart_call(registers, 99);
  EXPECT_TRUE(x86_64::will_restart(registers));
  EXPECT_EQ(registers.rip, 0x401002U);
  EXPECT_EQ(registers.orig_rax, 232U);
  EXPECT_EQ(registers.rdi, 5U);
}

TEST(AArch64Syscall, eintr_is_seen_in_x0_and_the_number_in_x8) {
  aarch64::Registers registers;
  registers.x[0] = static_cast<std::uint64_t>(std::int64_t{-EINTR});
  registers.x[8] = 22;  // epoll_pwait
  EXPECT_EQ(aarch64::leaving_syscall(registers), 22);
  EXPECT_TRUE(aarch64::returns_eintr(registers));
  registers.x[8] = 0xFFFF'0000;
  EXPECT_EQ(aarch64::leaving_syscall(registers), std::nullopt);
  registers.x[8] = 22;
  registers.x[0] = 0;
  EXPECT_EQ(aarch64::leaving_syscall(registers), std::nullopt);
}

TEST(AArch64Syscall, rewound_stands_on_its_svc_with_the_first_argument) {
  aarch64::Registers registers;
  registers.pc = 0x1004;
  registers.x[0] = static_cast<std::uint64_t>(std::int64_t{-EINTR});
  aarch64::restart_call(registers, 5);
  EXPECT_EQ(registers.pc, 0x1000U);
  EXPECT_EQ(registers.x[0], 5U);
}

TEST(Rewinding, is_allowed_for_waits_and_never_for_close_or_sleep) {
  EXPECT_TRUE(x86_64::is_restartable(232));  // epoll_wait
  EXPECT_TRUE(x86_64::is_restartable(128));  // rt_sigtimedwait
  EXPECT_TRUE(x86_64::is_restartable(0));    // read
  EXPECT_FALSE(x86_64::is_restartable(3));   // close
  EXPECT_FALSE(x86_64::is_restartable(35));  // nanosleep
  EXPECT_FALSE(x86_64::is_restartable(-1));
  EXPECT_TRUE(aarch64::is_restartable(22));    // epoll_pwait
  EXPECT_FALSE(aarch64::is_restartable(57));   // close
  EXPECT_FALSE(aarch64::is_restartable(101));  // nanosleep
}

}  // namespace
}  // namespace sp::arch
