// Copies of AArch64 functions, word by word.
#include <gtest/gtest.h>

#include "rewriter/copy_function.h"
#include "unit/rewriter/aarch64/hand_made_words.h"

namespace sp::rewriter::aarch64 {
namespace {

using core::CopyRefusal;
using core::CopyUndo;
using Form = core::CopyLanding::Form;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kAdd = 0x8B010000;          // add x0, x0, x1
constexpr std::uint32_t kRet = 0xD65F03C0;          // ret
constexpr std::uint32_t kNop = 0xD503201F;          // nop
constexpr std::uint32_t kSave = 0xA9BF07E0;         // stp x0, x1, [sp, #-16]!
constexpr std::uint32_t kAddressLow = 0xD2800000;   // mov x0, #0
constexpr std::uint32_t kAddressHigh = 0xF2A80000;  // movk x0, #0x4000, lsl #16
constexpr std::uint32_t kOne = 0xD2800021;          // mov x1, #1
constexpr std::uint32_t kCount = 0xF821001F;        // stadd x1, [x0]
constexpr std::uint32_t kRestore = 0xA8C107E0;      // ldp x0, x1, [sp], #16
const Words kSpilled{kSave, kAddressLow, kAddressHigh, kOne, kCount, kRestore};

core::Address in_copy(std::size_t word) { return kPlace.at + 4 * word; }

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The count of the block with that number, where registers are saved.
Words count(std::uint32_t block) {
  Words words = kSpilled;
  words[1] |= 8 * block << 5U;
  return words;
}

TEST(CopyWords, count_with_registers_that_are_dead) {
  HandMadeWords function({0x528000A2, 0x528000C3, 0x8B030040, kRet});  // mov w2; mov w3; add; ret
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy) << to_string(copy.error());
  // mov x0, #0; movk x0; mov x2, #1; stadd x2, [x0]: add overwrites x0
  EXPECT_EQ(copy->code, bytes_of({kAddressLow, kAddressHigh, 0xD2800022, 0xF822001F, 0x528000A2,
                                  0x528000C3, 0x8B030040, kRet}));
  ASSERT_EQ(copy->landings.size(), 1U);
  EXPECT_EQ(copy->landings[0].form, Form::jump);
  EXPECT_EQ(copy->landings[0].at, kStart);
  EXPECT_EQ(copy->landings[0].size, 4);
  EXPECT_EQ(copy->landings[0].copy, kPlace.at);
  EXPECT_EQ(copy->landings[0].bytes, (std::array<std::byte, 8>{std::byte{0}, std::byte{0},
                                                               std::byte{0x04}, std::byte{0x14}}));
  for (std::size_t word = 0; word < 5; ++word) {
    EXPECT_EQ(copy->to_original(in_copy(word))->original, kStart);
    EXPECT_EQ(copy->to_original(in_copy(word))->is_counted, word == 4);
  }
  EXPECT_EQ(copy->to_copy(kStart), kPlace.at);
  EXPECT_EQ(copy->to_copy(kStart + 4), in_copy(5));
}

TEST(CopyWords, save_registers_of_which_nothing_is_known) {
  HandMadeWords function({kAdd, kRet});
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code, bytes_of(kSpilled + Words{kAdd, kRet}));
  EXPECT_EQ(copy->to_original(in_copy(0))->undo, CopyUndo{});
  for (std::size_t word = 1; word < 6; ++word) {
    const auto point = copy->to_original(in_copy(word));
    EXPECT_EQ(point->undo, (CopyUndo{16, {{{0, 0}, {1, 8}}}}));
    EXPECT_EQ(point->is_counted, word == 5);
  }
  function->allow_spill = false;
  EXPECT_EQ(copy_function(*function, kPlace).error(), CopyRefusal::no_scratch_register);
}

TEST(CopyWords, count_in_a_loop_where_the_cpu_does_not_add_in_memory) {
  HandMadeWords function({kAdd, kRet});
  core::CopyPlace place = kPlace;
  place.adds_in_memory = false;
  const auto copy = copy_function(*function, place);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code,
            bytes_of({0xA9BE07E0, 0xF9000BE2, kAddressLow, kAddressHigh,  // stp; str x2, [sp, #16]
                      0xC85F7C01, 0x91000421, 0xC8027C01, 0x35FFFFA2,  // ldxr; add; stxr w2; cbnz
                      0xF9400BE2, 0xA8C207E0, kAdd, kRet}));
  for (std::size_t word = 0; word < 11; ++word) {
    const auto point = copy->to_original(in_copy(word));
    EXPECT_EQ(point->is_counted, word >= 8) << word;
    EXPECT_EQ(point->undo.counted_if_zero, word == 7 ? 2 : CopyUndo::kNone) << word;
    EXPECT_EQ(point->undo.sp_shift, word >= 1 && word <= 9 ? 32 : 0) << word;
  }
}

TEST(CopyWords, land_behind_what_indirect_calls_lead_to) {
  HandMadeWords function({0xD503233F, kAdd, kRet});  // paciasp
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code, bytes_of(Words{0xD503233F} + kSpilled + Words{kAdd, kRet}));
  const core::CopyLanding& landing = copy->landings.at(0);
  EXPECT_EQ(landing.at, kStart + 4);
  EXPECT_EQ(landing.leader(), kStart);
  EXPECT_EQ(landing.copy, in_copy(1));
  const core::CopiedBlock& block = copy->blocks.at(0);
  EXPECT_EQ(block.copy, kPlace.at);
  EXPECT_TRUE(block.is_ahead_at(kStart));
  EXPECT_TRUE(block.is_ahead_at(kStart + 4));
  EXPECT_FALSE(block.is_ahead_at(kStart + 8));
  EXPECT_FALSE(copy->to_original(in_copy(1))->is_counted);
  EXPECT_EQ(copy->to_copy(kStart + 4), in_copy(1));
}

TEST(CopyWords, leave_calls_in_the_original_and_make_those_without_room) {
  // mov x19, x0; bl outside; bl outside; ret
  HandMadeWords function({0xAA0003F3, 0x940003FF, 0x940003FE, kRet});
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  ASSERT_EQ(copy->blocks.size(), 3U);
  EXPECT_EQ(copy->kept, std::vector{kStart + 4});
  EXPECT_TRUE(copy->blocks[1].emulates_call);
  // b to the first call; the second one: mov x30, its return address; b outside
  EXPECT_EQ(copy->code,
            bytes_of(kSpilled + Words{0xAA0003F3, 0x17FBFFFA} + count(1) +
                     Words{0xD282019E, 0xF2A0081E, 0x17FC03F0} + count(2) + Words{kRet}));
  EXPECT_EQ(copy->landings[1].form, Form::jump);
  EXPECT_EQ(copy->landings[2].form, Form::jump);
}

TEST(CopyWords, move_addresses) {
  // adr x0, .+8; adrp x1, +2 pages; ldr x2, .+8; ret; literal
  HandMadeWords function({0x10000040, 0xD0000001, 0x58000042, kRet, 1, 2}, 2);
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  const Words counted{kAddressLow, kAddressHigh, kOne, kCount};
  // adrp, add; adrp; adrp, add, ldr
  EXPECT_EQ(copy->code, bytes_of(counted + Words{0x90FFF800, 0x91002000, 0xD0FFF801, 0x90FFF802,
                                                 0x91004042, 0xF9400042, kRet}));
}

TEST(CopyWords, take_literals_of_vector_registers_along) {
  HandMadeWords function({0x9C000040, kRet, 1, 2, 3, 4}, 4);  // ldr q0, .+8; ret; literal
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code, bytes_of(kSpilled + Words{0x9C000040, 0x14000005, 1, 2, 3, 4, kRet}));
  HandMadeWords elsewhere({0x9C000400, kRet});
  EXPECT_EQ(copy_function(*elsewhere, kPlace).error(), CopyRefusal::unmovable);
}

TEST(CopyWords, begin_loops_with_a_nop_that_a_jump_may_replace) {
  HandMadeWords function({kAdd, 0xF1000400, 0x54FFFFC1, kRet});  // subs x0, x0, #1; b.ne start
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  // The way to the next block is counted by that block.
  EXPECT_EQ(copy->code, bytes_of(Words{kNop} + kSpilled + Words{kAdd, 0xF1000400, 0x54FFFEE1} +
                                 count(1) + Words{kRet}));
  ASSERT_EQ(copy->exits.size(), 1U);
  EXPECT_EQ(copy->exits[0].at, kPlace.at);
  EXPECT_EQ(copy->exits[0].original, kStart);
  EXPECT_EQ(copy->exits[0].size, 4);
  EXPECT_EQ(copy->exits[0].bytes[3], std::byte{0x17});  // b backwards
}

TEST(CopyWords, invert_branches_that_may_not_reach) {
  HandMadeWords function({0x36000040, kAdd, kRet});  // tbz w0, #0, the ret
  core::CopyPlace place = kPlace;
  place.room = 0x10000;
  const auto copy = copy_function(*function, place);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code, bytes_of(kSpilled + Words{0x37000040, 0x14000008} + count(1) + Words{kAdd} +
                                 count(2) + Words{kRet}));
  EXPECT_EQ(copy->to_original(in_copy(6))->original, kStart);
  EXPECT_EQ(copy->to_original(in_copy(7))->original, kStart + 8);
  EXPECT_FALSE(copy->to_original(in_copy(7))->is_counted);
}

TEST(CopyWords, leave_branches_to_other_functions_their_reach) {
  HandMadeWords function({0xB4002000, kRet});  // cbz x0, outside
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  // cbnz over b outside
  EXPECT_EQ(copy->code,
            bytes_of(kSpilled + Words{0xB5000040, 0x17FC00F9} + count(1) + Words{kRet}));
}

TEST(CopyWords, keep_atomic_sequences_together) {
  // ldaxr w0, [x1]; add w0, w0, #1; stlxr w2, w0, [x1]; cbnz w2, start; ret
  HandMadeWords function({0x885FFC20, 0x11000400, 0x8802FC20, 0x35FFFFA2, kRet});
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  const std::size_t behind_count = copy->code.size() / 4 - 11;
  EXPECT_EQ(std::vector(copy->code.begin() + static_cast<std::ptrdiff_t>(4 * behind_count),
                        copy->code.begin() + static_cast<std::ptrdiff_t>(4 * behind_count + 12)),
            bytes_of({0x885FFC20, 0x11000400, 0x8802FC20}));
  // A store without a load.
  HandMadeWords alone({0x8802FC24, kRet});
  EXPECT_EQ(copy_function(*alone, kPlace).error(), CopyRefusal::unmovable);
}

// ldaxr w0, [x1]; cmp w0, w3; b.ne the ret; stlxr w2, w4, [x1]; cbnz w2, start; ret
const Words kCompareAndSwap{0x885FFC20, 0x6B03001F, 0x54000061, 0x8802FC24, 0x35FFFF82, kRet};

TEST(CopyWords, count_what_begins_in_an_atomic_sequence_behind_it) {
  HandMadeWords function(kCompareAndSwap);
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy) << to_string(copy.error());
  // The way from cbnz to the ret has a counter of its own, the last one.
  EXPECT_EQ(copy->code, bytes_of(Words{kNop} + count(0) +
                                 Words{0x885FFC20, 0x6B03001F, 0x540001E1, 0x8802FC24} + count(1) +
                                 Words{0x35FFFDE2} + count(3) + count(2) + Words{kRet}));
  EXPECT_FALSE(copy->to_original(in_copy(10))->is_counted);  // stlxr
  EXPECT_TRUE(copy->to_original(in_copy(17))->is_counted);   // cbnz
}

TEST(CopyWords, refuse_what_cannot_be_counted_behind_an_atomic_sequence) {
  // Two blocks begin in it: ldaxr; cbz w0, the ret; cbz w3, the ret; stlxr w2, w4, [x1]; ret
  HandMadeWords twice({0x885FFC20, 0x34000080, 0x34000063, 0x8802FC24, kNop, kRet});
  EXPECT_EQ(copy_function(*twice, kPlace).error(), CopyRefusal::unmovable);
  // Control comes to it from elsewhere, so that there would be a landing.
  HandMadeWords entered(kCompareAndSwap);
  entered->entries.push_back(kStart + 12);
  EXPECT_EQ(copy_function(*entered, kPlace).error(), CopyRefusal::unmovable);
  // A loop begins at the store, so that there would be an exit: cbnz w2, the stlxr
  Words loops = kCompareAndSwap;
  loops[4] = 0x35FFFFE2;
  HandMadeWords head(loops);
  EXPECT_EQ(copy_function(*head, kPlace).error(), CopyRefusal::unmovable);
}

TEST(CopyWords, count_no_way_within_an_atomic_sequence) {
  // cbz x3, the stlxr; then as above
  Words words{0xB4000083};
  words.insert(words.end(), kCompareAndSwap.begin(), kCompareAndSwap.end());
  HandMadeWords function(words);
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy) << to_string(copy.error());
  const auto& branches = copy->branches;
  EXPECT_EQ(branches.size(), 2U);
  EXPECT_TRUE(std::none_of(branches.begin(), branches.end(), [&](const core::CopiedBranch& one) {
    return copy->blocks[one.block].start == kStart + 4;  // b.ne ends it
  }));
  const auto sequence = bytes_of({0x885FFC20, 0x6B03001F});
  const auto found =
      std::search(copy->code.begin(), copy->code.end(), sequence.begin(), sequence.end());
  ASSERT_GE(copy->code.end() - found, 16);
  const auto store = bytes_of({0x8802FC24});
  EXPECT_TRUE(std::equal(store.begin(), store.end(), found + 12));
}

TEST(CopyWords, refuse_what_depends_on_its_own_address_otherwise) {
  for (const std::uint32_t word : {0x74000000U,     // cbgt, of a later architecture
                                   0x19000400U,     // cpyfp, of three that belong together
                                   0xDAC1A3FEU}) {  // paciasppc
    HandMadeWords function({word, kRet});
    EXPECT_EQ(copy_function(*function, kPlace).error(), CopyRefusal::unmovable) << std::hex << word;
  }
}

}  // namespace
}  // namespace sp::rewriter::aarch64
