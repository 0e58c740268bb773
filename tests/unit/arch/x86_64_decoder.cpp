#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "arch/x86_64/decoder.h"
#include "bytes.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;
using core::Flow;

constexpr Address kHere{0x401000};

struct Golden {
  const char* hex;
  const char* text;
  Flow flow;
  std::optional<std::uint64_t> target = std::nullopt;
};

void expect_decodes(const Golden& golden) {
  const auto bytes = bytes_of(golden.hex);
  const auto decoded = decode(bytes, kHere);
  ASSERT_TRUE(decoded) << golden.text;
  EXPECT_EQ(decoded->address, kHere);
  EXPECT_EQ(decoded->length, bytes.size()) << golden.text;
  EXPECT_EQ(decoded->flow, golden.flow) << golden.text;
  ASSERT_EQ(decoded->target.has_value(), golden.target.has_value()) << golden.text;
  if (golden.target) {
    EXPECT_EQ(decoded->target->value(), *golden.target) << golden.text;
  }
}

TEST(X86Decoder, knows_every_conditional_jump) {
  for (unsigned condition = 0; condition < 16; ++condition) {
    const std::vector<std::byte> near = {std::byte{0x0F}, static_cast<std::byte>(0x80U | condition),
                                         std::byte{0x00}, std::byte{0x01},
                                         std::byte{0x00}, std::byte{0x00}};
    const std::vector<std::byte> brief = {static_cast<std::byte>(0x70U | condition),
                                          std::byte{0xFE}};
    const auto near_jump = decode(near, kHere);
    const auto short_jump = decode(brief, kHere);
    ASSERT_TRUE(near_jump && short_jump);
    EXPECT_EQ(near_jump->flow, Flow::branch);
    EXPECT_EQ(near_jump->length, 6);
    EXPECT_EQ(near_jump->target, Address{0x401106});
    EXPECT_EQ(short_jump->flow, Flow::branch);
    EXPECT_EQ(short_jump->length, 2);
    EXPECT_EQ(short_jump->target, kHere);
  }
}

TEST(X86Decoder, knows_direct_transfers) {
  const Golden goldens[] = {
      {"eb 10", "jmp short", Flow::jump, 0x401012},
      {"e9 fb ff ff ff", "jmp near", Flow::jump, 0x401000},
      {"e8 00 00 00 00", "call", Flow::call, 0x401005},
      {"f2 e8 00 00 00 00", "bnd call", Flow::call, 0x401006},
      {"f2 e9 00 00 00 00", "bnd jmp", Flow::jump, 0x401006},
      {"f2 75 10", "bnd jne", Flow::branch, 0x401013},
      {"2e 0f 84 00 00 00 00", "je,pn", Flow::branch, 0x401007},
      {"66 66 48 e8 00 00 00 00", "data16 data16 rex.W call", Flow::call, 0x401008},
      {"e3 02", "jrcxz", Flow::branch, 0x401004},
      {"67 e3 02", "jecxz", Flow::branch, 0x401005},
      {"e2 fe", "loop", Flow::branch, 0x401000},
      {"e1 fe", "loope", Flow::branch, 0x401000},
      {"e0 fe", "loopne", Flow::branch, 0x401000},
      {"c7 f8 00 00 00 00", "xbegin", Flow::branch, 0x401006},
      {"66 c7 f8 10 00", "xbegin rel16", Flow::branch, 0x401015},
  };
  for (const Golden& golden : goldens) {
    expect_decodes(golden);
  }
}

TEST(X86Decoder, knows_indirect_transfers_and_returns) {
  const Golden goldens[] = {
      {"ff e0", "jmp *%rax", Flow::indirect_jump},
      {"3e ff e0", "notrack jmp *%rax", Flow::indirect_jump},
      {"41 ff e3", "jmp *%r11", Flow::indirect_jump},
      {"f2 ff 25 aa 2f 00 00", "bnd jmp *0x2faa(%rip)", Flow::indirect_jump},
      {"ff 24 c5 00 20 40 00", "jmp *0x402000(,%rax,8)", Flow::indirect_jump},
      {"ff 6c 24 08", "ljmp *8(%rsp)", Flow::indirect_jump},
      {"ff d0", "call *%rax", Flow::indirect_call},
      {"3e ff d0", "notrack call *%rax", Flow::indirect_call},
      {"ff 15 00 00 00 00", "call *0(%rip)", Flow::indirect_call},
      {"64 ff 14 25 10 00 00 00", "call *%fs:0x10", Flow::indirect_call},
      {"ff 5d 00", "lcall *(%rbp)", Flow::indirect_call},
      {"c3", "ret", Flow::ret},
      {"f3 c3", "repz ret", Flow::ret},
      {"f2 c3", "bnd ret", Flow::ret},
      {"c2 08 00", "ret $8", Flow::ret},
      {"cb", "lret", Flow::ret},
      {"48 cb", "lretq", Flow::ret},
      {"ca 08 00", "lret $8", Flow::ret},
      {"48 cf", "iretq", Flow::ret},
      {"0f 07", "sysret", Flow::ret},
      {"f3 0f 01 ec", "uiret", Flow::ret},
  };
  for (const Golden& golden : goldens) {
    expect_decodes(golden);
  }
}

TEST(X86Decoder, knows_what_enters_the_kernel_and_what_stops) {
  const Golden goldens[] = {
      {"0f 05", "syscall", Flow::syscall},
      {"0f 34", "sysenter", Flow::syscall},
      {"cd 80", "int $0x80", Flow::syscall},
      {"cd 29", "int $0x29", Flow::stop},
      {"cc", "int3", Flow::stop},
      {"cd 03", "int $3", Flow::stop},
      {"f1", "int1", Flow::stop},
      {"f4", "hlt", Flow::stop},
      {"0f 0b", "ud2", Flow::stop},
      {"0f b9 c0", "ud1", Flow::stop},
  };
  for (const Golden& golden : goldens) {
    expect_decodes(golden);
  }
}

TEST(X86Decoder, measures_what_does_not_branch) {
  const Golden goldens[] = {
      {"f3 0f 1e fa", "endbr64", Flow::next},
      {"90", "nop", Flow::next},
      {"66 2e 0f 1f 84 00 00 00 00 00", "nopw %cs:0(%rax,%rax,1)", Flow::next},
      {"48 b8 01 02 03 04 05 06 07 08", "movabs $imm64,%rax", Flow::next},
      {"b8 01 02 03 04", "mov $imm32,%eax", Flow::next},
      {"66 b8 01 02", "mov $imm16,%ax", Flow::next},
      {"48 a1 01 02 03 04 05 06 07 08", "movabs addr,%rax", Flow::next},
      {"67 a1 01 02 03 04", "addr32 mov addr,%eax", Flow::next},
      {"c8 10 00 00", "enter $16,$0", Flow::next},
      {"f6 c1 01", "test $1,%cl", Flow::next},
      {"f6 d9", "neg %cl", Flow::next},
      {"66 f7 c1 01 00", "test $1,%cx", Flow::next},
      {"48 f7 c1 01 00 00 00", "test $1,%rcx", Flow::next},
      {"48 f7 d9", "neg %rcx", Flow::next},
      {"80 3d 00 00 00 00 00", "cmpb $0,0(%rip)", Flow::next},
      {"c6 f8 01", "xabort $1", Flow::next},
      {"ff 34 25 00 10 00 00", "push 0x1000", Flow::next},
      {"8f 04 24", "pop (%rsp)", Flow::next},
      {"c5 f8 77", "vzeroupper", Flow::next},
      {"c5 fd 6f 05 00 00 00 00", "vmovdqa 0(%rip),%ymm0", Flow::next},
      {"c4 e3 7d 19 c1 01", "vextractf128", Flow::next},
      {"c4 e2 f9 f7 c0", "shlx", Flow::next},
      {"62 f1 7c 48 10 41 01", "vmovups 0x40(%rcx),%zmm0", Flow::next},
      {"62 f3 fd 48 3a c1 01", "vinserti64x4", Flow::next},
      {"62 f5 7c 48 58 c0", "vaddph", Flow::next},
      {"62 01 fd 48 7b ca", "vcvtpd2qq %zmm26,%zmm25", Flow::next},
      {"c5 fb 92 c0", "kmovd %eax,%k0", Flow::next},
      {"8f e8 78 c0 c0 01", "vprotb (XOP)", Flow::next},
      {"8f e9 78 81 c0", "vfrczpd (XOP)", Flow::next},
      {"0f 0f c1 9e", "pfadd (3DNow)", Flow::next},
      {"66 0f 78 c1 01 02", "extrq", Flow::next},
      {"66 0f 3a 0f c1 08", "palignr", Flow::next},
      {"f2 48 0f 38 f1 c0", "crc32q", Flow::next},
      {"0f 20 c0", "mov %cr0,%rax", Flow::next},
      {"f3 48 0f 1e c8", "rdsspq", Flow::next},
      {"0f 01 ee", "rdpkru", Flow::next},
  };
  for (const Golden& golden : goldens) {
    expect_decodes(golden);
  }
}

TEST(X86Decoder, refuses_what_is_no_instruction) {
  for (const char* hex : {"", "06", "0e", "ce", "ea 00 00 00 00 00 00", "9a", "d4 0a", "60",
                          "82 c0 01", "0f 04", "0f 3b c0", "c5 f8 80 00 00 00 00"}) {
    EXPECT_FALSE(decode(bytes_of(hex), kHere)) << hex;
  }
}

TEST(X86Decoder, refuses_what_is_cut_off_or_too_long) {
  for (const char* hex : {"e8 00 00 00", "0f", "48", "f3 0f 1e", "48 8b 84 24 00 00 00", "c4 e2",
                          "62 f1 7c", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"}) {
    EXPECT_FALSE(decode(bytes_of(hex), kHere)) << hex;
  }
}

TEST(X86Decoder, refuses_branches_that_vendors_read_differently) {
  for (const char* hex :
       {"66 e8 00 00 00 00", "66 e9 00 00 00 00", "66 75 00", "66 0f 84 00 00 00 00", "66 eb 00",
        "66 e2 00", "66 e3 00", "48 66 e8 00 00 00 00"}) {
    EXPECT_FALSE(decode(bytes_of(hex), kHere)) << hex;
  }
}

TEST(X86Decoder, reads_branches_whose_prefixes_do_not_change_the_target) {
  const Golden goldens[] = {
      {"67 e8 00 00 00 00", "addr32 call", Flow::call, 0x401006},
      {"2e e9 00 00 00 00", "cs jmp", Flow::jump, 0x401006},
      {"66 48 e8 00 00 00 00", "data16 rex.W call", Flow::call, 0x401007},
      {"f2 e1 fe", "repne loope", Flow::branch, 0x401001},
      {"f3 e0 fe", "rep loopne", Flow::branch, 0x401001},
      {"66 c3", "data16 ret", Flow::ret},
      {"66 ff e0", "data16 jmp *%ax or %rax", Flow::indirect_jump},
  };
  for (const Golden& golden : goldens) {
    expect_decodes(golden);
  }
}

TEST(X86Decoder, ignores_a_rex_that_is_not_last) {
  expect_decodes({"48 66 b8 01 02", "rex.W ignored before 66: mov $imm16,%ax", Flow::next});
}

TEST(X86Decoder, never_reads_beyond_the_bytes_it_got) {
  // Every pair of first bytes, at several lengths; the sanitizer reports reads past the end.
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      for (std::size_t length = 1; length <= 15; length += 7) {
        std::vector<std::byte> bytes(length, std::byte{0});
        bytes[0] = static_cast<std::byte>(first);
        if (length > 1) {
          bytes[1] = static_cast<std::byte>(second);
        }
        const auto decoded = decode(bytes, kHere);
        if (decoded) {
          EXPECT_LE(decoded->length, length);
          EXPECT_GT(decoded->length, 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sp::arch::x86_64
