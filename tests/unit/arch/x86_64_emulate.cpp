#include <gtest/gtest.h>

#include "arch/x86_64/emulate.h"
#include "arch/x86_64/flags.h"
#include "bytes.h"
#include "pretended_memory.h"

namespace sp::arch::x86_64 {
namespace {

// tests/live compares every form with the CPU; these tests show typical cases and refused ones.
class X86Emulation : public testing::Test {
 protected:
  X86Emulation() {
    registers.rip = 0x401000;
    registers.rsp = 0x7ff0;
    registers.eflags = 0x202;
    memory.words = {{0x7fe8, 0}, {0x7ff0, 0x401234}, {0x7ff8, 77}, {0x402000, 0x403000}};
  }

  Emulated run(const char* hex) { return emulate(registers, bytes_of(hex), memory); }

  void expect_refused(const char* hex, Emulated answer = Emulated::not_emulated) {
    const Registers before = registers;
    const auto words = memory.words;
    EXPECT_EQ(run(hex), answer) << hex;
    EXPECT_EQ(registers, before) << hex;
    EXPECT_EQ(memory.words, words) << hex;
  }

  Registers registers;
  PretendedMemory memory;
};

TEST_F(X86Emulation, takes_a_conditional_jump_where_it_holds) {
  registers.eflags |= kZero;
  ASSERT_EQ(run("74 10"), Emulated::done);  // je .+0x12
  EXPECT_EQ(registers.rip, 0x401012U);
  ASSERT_EQ(run("0f 85 00 01 00 00"), Emulated::done);  // jne: falls through
  EXPECT_EQ(registers.rip, 0x401018U);
}

TEST_F(X86Emulation, calls_push_the_return_address) {
  ASSERT_EQ(run("e8 10 00 00 00"), Emulated::done);
  EXPECT_EQ(registers.rip, 0x401015U);
  EXPECT_EQ(registers.rsp, 0x7fe8U);
  EXPECT_EQ(memory.words[0x7fe8], 0x401005U);
}

TEST_F(X86Emulation, calls_through_memory_relative_to_rip_and_fs) {
  ASSERT_EQ(run("f2 ff 15 f9 0f 00 00"), Emulated::done);  // bnd call *0xff9(%rip)
  EXPECT_EQ(registers.rip, 0x403000U);
  EXPECT_EQ(memory.words[0x7fe8], 0x401007U);
  registers.fs_base = 0x401ff0;
  ASSERT_EQ(run("64 ff 24 25 10 00 00 00"), Emulated::done);  // jmp *%fs:0x10
  EXPECT_EQ(registers.rip, 0x403000U);
}

TEST_F(X86Emulation, call_through_the_stack_looks_before_it_pushes) {
  ASSERT_EQ(run("ff 14 24"), Emulated::done);  // call *(%rsp)
  EXPECT_EQ(registers.rip, 0x401234U);
}

TEST_F(X86Emulation, returns_and_releases_arguments) {
  ASSERT_EQ(run("f3 c3"), Emulated::done);
  EXPECT_EQ(registers.rip, 0x401234U);
  EXPECT_EQ(registers.rsp, 0x7ff8U);
  registers.rsp = 0x7ff0;
  ASSERT_EQ(run("c2 f0 ff"), Emulated::done);  // the immediate has no sign
  EXPECT_EQ(registers.rsp, 0x7ff8U + 0xfff0U);
}

TEST_F(X86Emulation, enters_a_function) {
  registers.rbp = 5;
  for (const char* hex : {"f3 0f 1e fa", "55", "48 89 e5", "48 83 ec 20"}) {
    ASSERT_EQ(run(hex), Emulated::done) << hex;
  }
  EXPECT_EQ(memory.words[0x7fe8], 5U);
  EXPECT_EQ(registers.rbp, 0x7fe8U);
  EXPECT_EQ(registers.rsp, 0x7fc8U);
  EXPECT_EQ(registers.rip, 0x40100cU);
}

TEST_F(X86Emulation, refuses_memory_that_cannot_be_accessed) {
  registers.rsp = 0x9000;
  registers.rax = 0x123456;
  for (const char* hex : {"e8 00 00 00 00", "c3", "50", "58", "ff d0", "ff 20", "8b 00", "c9"}) {
    expect_refused(hex, Emulated::memory_refused);
  }
}

TEST_F(X86Emulation, refuses_what_it_must_leave_to_the_cpu) {
  registers.rax = 0x7ff0;
  for (const char* hex : {"89 00",
                          "83 00 01",
                          "c7 00 01 00 00 00",
                          "ff 00",
                          "0f 94 00",  // stores
                          "f0 83 00 01",
                          "87 00",  // locked
                          "0f 05",
                          "cc",
                          "cd 80",
                          "0f 0b",
                          "f4",  // kernel and traps
                          "ff 28",
                          "ff 18",
                          "cb",
                          "cf",  // far
                          "66 e8 00 00 00 00",
                          "66 c3",
                          "66 50",  // 16 bits
                          "f3 48 0f 1e c8",
                          "f3 a4",
                          "06",
                          "0f",
                          ""}) {
    expect_refused(hex);
  }
}

TEST_F(X86Emulation, leaves_what_cpus_disagree_on_to_the_cpu) {
  registers.rcx = 9;
  for (const char* hex : {"f2 e0 10",
                          "f2 e1 10",
                          "f2 e2 10",
                          "f2 e3 10",  // loops and jrcxz
                          "f3 e0 10",
                          "f3 e1 10",
                          "f3 e2 10",
                          "f3 e3 10",  // with F2 and F3
                          "f3 74 10",
                          "f3 e8 00 00 00 00",
                          "f3 eb 00",
                          "f3 ff e0",
                          "66 e8 00 00 00 00",
                          "66 e2 00",
                          "66 75 00",
                          "66 0f 84 00 00 00 00",
                          "66 c3",
                          "66 ff e0",
                          "66 ff d0",  // 64 bits, or 16
                          "64 75 00",
                          "65 e8 00 00 00 00",
                          "64 c3",
                          "64 ff e0",
                          "f2 f3 c3",
                          "f3 f2 c3",
                          "64 65 8b 00",  // two of a kind
                          "66 63 c1",     // movsxd of two bytes, or four
                          "f6 c9 01",
                          "f7 c9 01 00 00 00",  // test as /1
                          "0f 1f c8",
                          "66 f3 0f 1e fa",
                          "f3 48 0f 1e fa",
                          "f3 41 90"}) {
    expect_refused(hex);
  }
}

TEST_F(X86Emulation, follows_branches_with_prefixes_that_compilers_and_linkers_emit) {
  const struct {
    const char* hex;
    const char* text;
    std::uint64_t to;
  } goldens[] = {
      {"f2 eb 10", "bnd jmp", 0x401013},
      {"f2 75 10", "bnd jne", 0x401013},
      {"f2 e8 10 00 00 00", "bnd call", 0x401016},
      {"f2 c3", "bnd ret", 0x401234},
      {"f3 c3", "rep ret", 0x401234},
      {"3e ff e0", "notrack jmp *%rax", 0x405000},
      {"3e 75 10", "jne,pt", 0x401013},
      {"2e 75 10", "jne,pn", 0x401013},
      {"2e e8 10 00 00 00", "cs call, for indirect-branch thunks", 0x401016},
      {"67 e8 10 00 00 00", "addr32 call, relaxed by the linker", 0x401016},
      {"66 66 48 e8 10 00 00 00", "data16 data16 rex.W call __tls_get_addr", 0x401018},
      {"66 48 e8 10 00 00 00", "data16 rex.W call", 0x401017},
      {"66 48 ff 15 f8 0f 00 00", "data16 rex.W call *0xff8(%rip)", 0x403000},
  };
  registers.rax = 0x405000;
  const Registers before = registers;
  for (const auto& golden : goldens) {
    registers = before;
    EXPECT_EQ(run(golden.hex), Emulated::done) << golden.text;
    EXPECT_EQ(registers.rip, golden.to) << golden.text;
    memory.words[0x7ff0] = 0x401234;
  }
}

TEST_F(X86Emulation, counts_loops_in_ecx_with_67) {
  registers.rcx = 0xff00000001;
  ASSERT_EQ(run("67 e2 10"), Emulated::done);
  EXPECT_EQ(registers.rip, 0x401003U);
  EXPECT_EQ(registers.rcx, 0U);
  registers.rcx = 0xff00000000;
  ASSERT_EQ(run("67 e3 10"), Emulated::done);
  EXPECT_EQ(registers.rip, 0x401016U);
}

TEST_F(X86Emulation, refuses_to_jump_out_of_user_space) {
  registers.rax = 0x800000000000;
  expect_refused("ff e0");
  expect_refused("ff d0");
  memory.words[0x7ff0] = 0x8000000000000000;
  expect_refused("c3");
  registers.rcx = 9;
  registers.rip = 0x10;
  expect_refused("e2 80");
}

}  // namespace
}  // namespace sp::arch::x86_64
