#include "symbols/plt_names.h"

#include <gtest/gtest.h>

#include "unit/symbols/elf_builder.h"

namespace {

using sp::symbols::CodeRange;
using sp::symbols::ElfSections;
using sp::symbols::find_aarch64_stubs;
using sp::symbols::find_x86_64_stubs;
using sp::symbols::PltNames;
using sp::test::Bytes;
using sp::test::bytes_of;
using sp::test::ElfBuilder;

TEST(PltStubs, finds_lazy_x86_64_stubs) {
  const Bytes code = bytes_of({
      0xFF, 0x35, 0xE2, 0x2F, 0,    0,    0xFF, 0x25,
      0xE4, 0x2F, 0,    0,    0x0F, 0x1F, 0x40, 0,  // header
      0xFF, 0x25, 0xE2, 0x2F, 0,    0,    0x68, 0,
      0,    0,    0,    0xE9, 0xE0, 0xFF, 0xFF, 0xFF,  // jmp *; push
      0xFF, 0x25, 0xDA, 0x2F, 0,    0,    0x68, 1,
      0,    0,    0,    0xE9, 0xD0, 0xFF, 0xFF, 0xFF,
  });
  const auto stubs = find_x86_64_stubs(code, 0x1020);
  ASSERT_EQ(stubs.size(), 2U);
  EXPECT_EQ(stubs[0].range, (CodeRange{0x1030, 0x1040}));
  EXPECT_EQ(stubs[0].slot, 0x1036U + 0x2FE2);
  EXPECT_EQ(stubs[1].slot, 0x1046U + 0x2FDA);
}

TEST(PltStubs, finds_x86_64_stubs_with_endbr_and_bnd) {
  const Bytes code = bytes_of({
      0xF3, 0x0F, 0x1E, 0xFA, 0xF2, 0xFF, 0x25, 0x75, 0x2F, 0, 0,    0x0F, 0x1F, 0x44, 0, 0,
      0xF3, 0x0F, 0x1E, 0xFA, 0xFF, 0x25, 0x6E, 0x2F, 0,    0, 0x66, 0x0F, 0x1F, 0x44, 0, 0,
  });
  const auto stubs = find_x86_64_stubs(code, 0x1050);
  ASSERT_EQ(stubs.size(), 2U);
  EXPECT_EQ(stubs[0].slot, 0x105BU + 0x2F75);
  EXPECT_EQ(stubs[1].slot, 0x106AU + 0x2F6E);
}

TEST(PltStubs, finds_8_byte_x86_64_stubs) {
  const Bytes code = bytes_of({0xFF, 0x25, 0x10, 0, 0, 0, 0x66, 0x90,  //
                               0xFF, 0x25, 0x20, 0, 0, 0, 0x66, 0x90});
  const auto stubs = find_x86_64_stubs(code, 0x1000);
  ASSERT_EQ(stubs.size(), 2U);
  EXPECT_EQ(stubs[0].range, (CodeRange{0x1000, 0x1008}));
  EXPECT_EQ(stubs[1].range, (CodeRange{0x1008, 0x1010}));
}

Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes bytes;
  for (const std::uint32_t value : values) {
    sp::test::append(bytes, value);
  }
  return bytes;
}

TEST(PltStubs, finds_aarch64_stubs) {
  // adrp x16, +0x10000; ldr x17, [x16, #0x18]; add x16, x16, #0x18; br x17 -- twice
  const Bytes code = words({0x90000090, 0xF9400E11, 0x91006210, 0xD61F0220,  //
                            0x90000090, 0xF9401211, 0x91008210, 0xD61F0220});
  const auto stubs = find_aarch64_stubs(code, 0x5A0);
  ASSERT_EQ(stubs.size(), 2U);
  EXPECT_EQ(stubs[0].range, (CodeRange{0x5A0, 0x5B0}));
  EXPECT_EQ(stubs[0].slot, 0x10018U);
  EXPECT_EQ(stubs[1].range, (CodeRange{0x5B0, 0x5C0}));
  EXPECT_EQ(stubs[1].slot, 0x10020U);
}

TEST(PltStubs, finds_aarch64_stubs_that_begin_with_bti_and_look_down) {
  // bti c; adrp x16, -0x1000; ldr x17, [x16, #0]; add; autia1716; br x17
  const Bytes code =
      words({0xD503245F, 0xF0FFFFF0, 0xF9400211, 0x91000210, 0xD503219F, 0xD61F0220});
  const auto stubs = find_aarch64_stubs(code, 0x3000);
  ASSERT_EQ(stubs.size(), 1U);
  EXPECT_EQ(stubs[0].range, (CodeRange{0x3000, 0x3018}));
  EXPECT_EQ(stubs[0].slot, 0x2000U);
}

ElfBuilder with_relocations(std::uint16_t machine, std::uint64_t jump_slot,
                            std::uint64_t irelative) {
  ElfBuilder builder(machine);
  builder.add_symbol({"puts", 0, 0, SHN_UNDEF});
  const auto symbols = builder.flush_symbols(true);
  Bytes table;
  sp::test::append(table, Elf64_Rela{0x4018, ELF64_R_INFO(1, jump_slot), 0});
  sp::test::append(table, Elf64_Rela{0x4020, ELF64_R_INFO(0, irelative), 0x1800});
  builder.add({".rela.plt", SHT_RELA, SHF_ALLOC, 0x600, table, 0, symbols, sizeof(Elf64_Rela)});
  return builder;
}

TEST(PltNames, takes_names_from_the_slots_relocations) {
  ElfBuilder builder = with_relocations(EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  // Three stubs at 0x1010, 0x1020, 0x1030, for the slots 0x4018, 0x4020, and one without
  // relocation.
  Bytes code(16, std::byte{0xCC});
  for (const std::uint32_t displacement : {0x4018U - 0x1016, 0x4020U - 0x1026, 0x5000U - 0x1036}) {
    sp::test::append(code, std::uint16_t{0x25FF});
    sp::test::append(code, displacement);
    code.resize((code.size() + 15) / 16 * 16);
  }
  builder.add_code(".plt", 0x1000, code);
  const PltNames names{ElfSections(builder.build_file())};
  EXPECT_EQ(names.find(0x100F), std::nullopt);
  ASSERT_TRUE(names.find(0x1010).has_value());
  EXPECT_EQ(names.find(0x101F)->name, "puts");
  EXPECT_EQ(names.find(0x1020)->resolver, 0x1800U);
  EXPECT_EQ(names.find(0x1030), std::nullopt);
}

TEST(PltNames, names_the_binding_half_of_split_stubs_by_relocation_order) {
  ElfBuilder builder = with_relocations(EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  Bytes code(16, std::byte{0xCC});
  for (const unsigned index : {0U, 1U, 77U}) {
    const Bytes stub = bytes_of({0xF3, 0x0F, 0x1E, 0xFA, 0x68, index, 0, 0, 0,  // endbr64; push
                                 0xF2, 0xE9, 0xE1, 0xFF, 0xFF, 0xFF, 0x90});    // bnd jmp
    code.insert(code.end(), stub.begin(), stub.end());
  }
  builder.add_code(".plt", 0x1000, code);
  const PltNames names{ElfSections(builder.build_file())};
  EXPECT_EQ(names.find(0x1010)->name, "puts");
  EXPECT_EQ(names.find(0x1020)->resolver, 0x1800U);
  EXPECT_EQ(names.size(), 2U);
}

TEST(PltNames, reads_aarch64_files_on_every_host) {
  ElfBuilder builder = with_relocations(EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE);
  // adrp x16, 0x4000; ldr x17, [x16, #0x18]; add; br
  builder.add_code(".plt", 0x1000, words({0xF0000010, 0xF9400E11, 0x91006210, 0xD61F0220}));
  const PltNames names{ElfSections(builder.build_file())};
  ASSERT_TRUE(names.find(0x100C).has_value());
  EXPECT_EQ(names.find(0x100C)->name, "puts");
}

}  // namespace
