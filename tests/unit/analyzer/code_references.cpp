#include "analyzer/code_references.h"

#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "arch/native.h"
#include "core/mapped_file.h"
#include "unit/arch/bytes.h"
#include "unit/symbols/elf_builder.h"

namespace sp::analyzer {
namespace {

using core::CandidateFunction;
using Values = std::vector<std::uint64_t>;

const std::atomic<bool> kGoOn{false};

core::CodeReferences find(test::ElfBuilder& builder,
                          const std::vector<CandidateFunction>& functions) {
  const auto image = builder.build_image();
  EXPECT_NE(image, nullptr);
  return image != nullptr ? find_code_references(image, functions, kGoOn) : core::CodeReferences{};
}

bool contains(const Values& values, std::uint64_t value) {
  return std::binary_search(values.begin(), values.end(), value);
}

TEST(CodeReferences, are_aligned_words_that_would_be_addresses_of_code) {
  test::ElfBuilder builder;
  builder.add_code(".text", 0x401000, 0x20);
  test::Bytes data;
  for (const std::uint64_t word : {0x401008ULL, 0x500000ULL, 0x401020ULL, 0x401004ULL, 0ULL,
                                   0x401008ULL, 0x40100C00000000ULL, 0ULL}) {
    test::append(data, word);
  }
  builder.add({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x500000, data});
  EXPECT_EQ(find(builder, {{0x401000, 0x401020, {}}}).pointers, (Values{0x401004, 0x401008}));
}

TEST(CodeReferences, are_words_at_multiples_of_8_wherever_the_segment_begins) {
  test::ElfBuilder builder;
  builder.add_code(".text", 0x401000, 0x20);
  test::Bytes data(4);
  test::append(data, std::uint64_t{0x401008});
  data.resize(data.size() + 3);  // no whole word
  builder.add({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x500004, data});
  EXPECT_EQ(find(builder, {}).pointers, Values{0x401008});
}

TEST(CodeReferences, are_not_in_constants_of_a_file_that_is_mapped_anywhere) {
  test::ElfBuilder builder;
  builder.add_code(".text", 0x401000, 0x20);
  test::Bytes text;
  test::append(text, std::uint64_t{0x401008});
  builder.add({".rodata", SHT_PROGBITS, SHF_ALLOC, 0x500000, text});
  EXPECT_EQ(find(builder, {}).pointers, Values{});
}

long next(long x) { return x + 1; }
long twice(long x) { return 2 * x; }
constinit const std::array kTable{&next, &twice};

TEST(CodeReferences, include_functions_in_a_table_of_pointers) {
  std::uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* into) {
        *static_cast<std::uint64_t*>(into) = program->dlpi_addr;
        return 1;  // the program is the first
      },
      &bias);
  const auto file = core::MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto image = core::ElfImage::parse(*file);
  ASSERT_TRUE(image);
  const auto references = find_code_references(*image, {}, kGoOn);
  for (const auto function : kTable) {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(function) - bias;
    EXPECT_TRUE((*image)->is_executable_at(address));
    EXPECT_TRUE(contains(references.pointers, address)) << std::hex << address;
  }
  EXPECT_TRUE(std::is_sorted(references.pointers.begin(), references.pointers.end()));
}

TEST(CodeReferences, list_the_stubs_of_linkage_tables) {
  test::ElfBuilder builder;
  builder.add_code(".plt", 0x401000, 0x28);  // 8 bytes are no stub
  builder.add_code(".plt.sec", 0x402000, 0x10);
  builder.add_code(".pltx", 0x403000, 0x10);
  Values begins;
  for (const auto& stub : find(builder, {}).stubs) {
    EXPECT_EQ(stub.end, stub.begin + 16);
    begins.push_back(stub.begin);
  }
  EXPECT_EQ(begins, (Values{0x401000, 0x401010, 0x402000}));
}

TEST(CodeReferences, say_what_code_of_the_file_cannot_bear) {
  test::ElfBuilder plain;
  plain.add_code(".text", 0x401000, 0x10);
  EXPECT_FALSE(find(plain, {}).has_restartable_sequences);
  EXPECT_FALSE(find(plain, {}).has_own_stacks);
  test::ElfBuilder restartable;
  restartable.add({"__rseq_cs", SHT_PROGBITS, SHF_ALLOC, 0x500000, test::Bytes(32)});
  EXPECT_TRUE(find(restartable, {}).has_restartable_sequences);
  for (const char* table : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    test::ElfBuilder go;
    go.add({table, SHT_PROGBITS, SHF_ALLOC, 0x500000, test::Bytes(32)});
    EXPECT_TRUE(find(go, {}).has_own_stacks) << table;
  }
}

/// The bytes below are x86-64 code.
class CodeReferencesX86 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "decodes x86-64 code with the decoder of this CPU";
    }
  }

  static core::CodeReferences in_code(const char* hex,
                                      const std::vector<CandidateFunction>& functions) {
    test::ElfBuilder builder;
    builder.add_code(".text", 0x401000, arch::bytes_of(hex));
    return find(builder, functions);
  }
};

TEST_F(CodeReferencesX86, are_destinations_of_jumps_into_other_functions) {
  // 0 jne 8; 2 jmp 16; 4 jmp 18; 6 jmp to what is no code; then no-operations
  const auto references = in_code("7506 eb0c eb0c eb7f 9090909090909090 90909090",
                                  {{0x401000, 0x401010, {}}, {0x401010, 0x401014, {}}});
  EXPECT_EQ(references.jumps, (Values{0x401010, 0x401012}));
  using Jump = core::CodeReferences::Jump;
  EXPECT_EQ(references.jump_sources,
            (std::vector<Jump>{{0x401010, 0x401002}, {0x401012, 0x401004}}));
}

TEST_F(CodeReferencesX86, are_destinations_of_all_calls) {
  // 0 call 5, within the function; 5 jmp 8; 7 ret; 8 ret
  const auto references =
      in_code("e800000000 eb01 c3 c3", {{0x401000, 0x401008, {}}, {0x401008, 0x401009, {}}});
  EXPECT_EQ(references.jumps, (Values{0x401005, 0x401008}));
  EXPECT_EQ(references.calls, Values{0x401005});
  ASSERT_EQ(references.jump_sources.size(), 1U) << "a call is none";
  EXPECT_EQ(references.jump_sources[0].to, 0x401008U);
}

TEST_F(CodeReferencesX86, have_functions_whose_callers_read_the_flags_that_they_return) {
  const auto found = in_code(
      "e81b000000 89c3 7c02 "  // 401000: call 401020; mov %eax, %ebx; jl
      "e822000000 85c0 7400 "  // 401009: call 401030; test %eax, %eax; je
      "e840000000 c3 "         // 401012: call 401057; ret
      "9090909090909090 "
      "39f7 eb1c 909090909090909090909090 "  // 401020: cmp; jmp 401040
      "39f7 c3 90909090909090909090909090 "  // 401030: cmp; ret
      "39f7 c3 90909090909090909090909090 "  // 401040: cmp; ret
      "e8abffffff 7c00 "                     // 401050: call 401000; jl
      "39f7 c3",                             // 401057: cmp; ret
      {{0x401000, 0x401018, {}},
       {0x401020, 0x401024, {}},
       {0x401030, 0x401033, {}},
       {0x401040, 0x401043, {}},
       {0x401050, 0x401057, {}},
       {0x401057, 0x40105A, {}}});
  // 401000 returns those of 401057.
  EXPECT_EQ(found.flag_returners, (Values{0x401000, 0x401020, 0x401040, 0x401057}));
  EXPECT_FALSE(found.uses_counter_segment);
}

TEST_F(CodeReferencesX86, have_instructions_that_set_the_base_of_the_counters_segment) {
  // wrgsbase %rax; ret
  EXPECT_TRUE(in_code("f3480faed8 c3", {{0x401000, 0x401006, {}}}).uses_counter_segment);
}

TEST_F(CodeReferencesX86, are_pointers_that_code_makes) {
  // 0 lea 2(rip),rax; 7 ret; 8 nop; 9 nop
  EXPECT_EQ(in_code("488d0502000000 c3 90 90", {{0x401000, 0x40100A, {}}}).pointers,
            Values{0x401009});
}

TEST_F(CodeReferencesX86, are_decoded_from_each_functions_begin) {
  // 0 ret; 1 the first two bytes of movabs, which are none; 3 call 8; 8 ret
  const auto references =
      in_code("c3 48b8 e800000000 c3 9090", {{0x401000, 0x401001, {}}, {0x401003, 0x401009, {}}});
  EXPECT_EQ(references.jumps, Values{0x401008});
}

TEST_F(CodeReferencesX86, are_found_between_functions) {
  // 0 ret; 1 what does not decode; 2 jmp 0; 4 ret
  EXPECT_EQ(in_code("c3 06 ebfc c3", {{0x401000, 0x401001, {}}, {0x401004, 0x401005, {}}}).jumps,
            Values{0x401000});
}

TEST_F(CodeReferencesX86, include_short_stubs) {
  test::ElfBuilder builder;
  builder.add_code(".plt.got", 0x401000,
                   arch::bytes_of("ff2500100000 6690 ff2500100000 6690"));  // jmp *(rip); nop
  const auto stubs = find(builder, {}).stubs;
  ASSERT_EQ(stubs.size(), 2U);
  EXPECT_EQ(stubs[1].begin, 0x401008U);
  EXPECT_EQ(stubs[1].end, 0x401010U);
}

TEST_F(CodeReferencesX86, end_early_if_nobody_wants_them) {
  test::ElfBuilder builder;
  builder.add_code(".text", 0x401000, arch::bytes_of("e802000000 c3 90 c3"));
  const auto image = builder.build_image();
  ASSERT_NE(image, nullptr);
  const std::vector<CandidateFunction> functions{{0x401000, 0x401006, {}},
                                                 {0x401007, 0x401008, {}}};
  const std::atomic<bool> stop{true};
  EXPECT_EQ(find_code_references(image, functions, stop).calls, Values{});
  EXPECT_EQ(find_code_references(image, functions, kGoOn).calls, Values{0x401007});
}

}  // namespace
}  // namespace sp::analyzer
