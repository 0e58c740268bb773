#include "rewriter/copy_function.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "arch/native.h"
#include "unit/rewriter/hand_made.h"
#include "unit/rewriter/same_code.h"

namespace sp::rewriter {
namespace {

using arch::bytes_of;
using core::Address;
using core::CopyRefusal;
using Form = core::CopyLanding::Form;

class CopyFunction : public testing::Test {
 protected:
  void SetUp() override {
    if (!arch::Native::kHasCopies) {
      GTEST_SKIP() << "no copies on this CPU";
    }
  }
};

TEST_F(CopyFunction, counts_in_front_of_the_first_place_where_flags_are_dead) {
  HandMade function(
      "48 01 f7"  // add %rsi,%rdi
      "48 89 f8"  // mov %rdi,%rax
      "c3");      // ret
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code, bytes_of("65 48 ff 04 25 00 00 00 40"  // incq %gs:0x40000000
                                 "48 01 f7 48 89 f8 c3"));
  EXPECT_EQ(difference(*function, *copy), "");
  ASSERT_EQ(copy->landings.size(), 1U);
  EXPECT_EQ(copy->landings[0].form, Form::jump);
  EXPECT_EQ(copy->landings[0].size, 5);
  const auto start = copy->to_original(kPlace.at);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->original, kStart);
  EXPECT_FALSE(start->is_counted);
  EXPECT_EQ(copy->to_copy(kStart), kPlace.at);
  EXPECT_EQ(copy->to_copy(kStart + 3), kPlace.at + 12);
  EXPECT_TRUE(copy->to_original(kPlace.at + 12)->is_counted);
  EXPECT_FALSE(copy->to_original(kPlace.at + 1));
  EXPECT_FALSE(copy->to_original(kPlace.at + copy->code.size()));
  EXPECT_FALSE(copy->to_copy(kStart + 1));
}

// With --trace a function's first instruction is a block of its own where one block is entry and
// exit: often a push, which is too short for a jump.
TEST_F(CopyFunction, lands_by_a_jump_that_covers_what_was_cut_off_the_block) {
  HandMade function(bytes_of("55"           // push %rbp
                             "48 89 e5"     // mov %rsp,%rbp
                             "48 8d 47 03"  // lea 3(%rdi),%rax
                             "5d"           // pop %rbp
                             "c3"),
                    {kStart, kStart + 1});
  const auto apart = copy_function(*function, kPlace);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->landings[0].form, Form::breakpoint);
  EXPECT_EQ(apart->landings[1].form, Form::breakpoint);

  function.graph().blocks[1].is_cut = true;
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  ASSERT_EQ(copy->landings.size(), 2U);
  EXPECT_EQ(copy->landings[0].form, Form::jump);
  EXPECT_EQ(copy->landings[0].size, 5);
  EXPECT_EQ(copy->landings[1].form, Form::none);
  // A thread that goes on behind the push in the original would execute the jump's rest.
  EXPECT_EQ(copy->changes_from(kStart + 1).size(), 1U);
  EXPECT_EQ(copy->changes_from(kStart + 4).size(), 1U);
  EXPECT_EQ(copy->changes_from(kStart + 8).size(), 0U);

  function->jumps_within = false;
  const auto open = copy_function(*function, kPlace);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->landings[0].form, Form::breakpoint);
  EXPECT_EQ(open->landings[1].form, Form::breakpoint);
}

TEST_F(CopyFunction, keeps_a_call_behind_which_control_comes_back_by_a_landing) {
  HandMade function(
      "48 83 ec 08"     // sub $8,%rsp
      "31 ff"           // xor %edi,%edi
      "e8 00 10 00 00"  // call 0x40200b
      "48 83 c4 08"     // add $8,%rsp
      "c3");
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  EXPECT_EQ(copy->kept, std::vector{kStart + 6});
  EXPECT_FALSE(copy->to_copy(kStart + 6));
  ASSERT_EQ(copy->landings.size(), 2U);
  EXPECT_EQ(copy->landings[1].at, kStart + 11);
  EXPECT_EQ(copy->landings[1].size, 5);
}

TEST_F(CopyFunction, makes_a_call_itself_that_leaves_no_room_for_a_landing) {
  HandMade function(
      "48 83 ec 08"     // sub $8,%rsp
      "31 ff"           // xor %edi,%edi
      "e8 00 10 00 00"  // call 0x40200b
      "89 c7"           // mov %eax,%edi
      "e8 00 10 00 00"  // call 0x402012
      "48 83 c4 08"     // add $8,%rsp
      "c3");
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  EXPECT_EQ(copy->kept, std::vector{kStart + 6});
  EXPECT_EQ(std::vector({copy->blocks[0].emulates_call, copy->blocks[1].emulates_call,
                         copy->blocks[2].emulates_call}),
            std::vector({false, true, false}));
  const auto call = copy->to_copy(kStart + 13);
  ASSERT_TRUE(call);
  const auto offset = *call - copy->at;
  EXPECT_EQ(std::vector(copy->code.begin() + static_cast<std::ptrdiff_t>(offset),
                        copy->code.begin() + static_cast<std::ptrdiff_t>(offset + 24)),
            bytes_of("e8 08 00 00 00"           // call over its return address
                     "12 10 40 00 00 00 00 00"  // 0x401012
                     "48 8d 64 24 08"           // lea 8(%rsp),%rsp
                     "ff 35 ed ff ff ff"));     // push -19(%rip)
  for (const auto& [at, shift] : {std::pair{13, 8}, std::pair{18, 0}, std::pair{24, 8}}) {
    const auto point = copy->to_original(*call + static_cast<std::uint64_t>(at));
    ASSERT_TRUE(point) << at;
    EXPECT_EQ(point->original, kStart + 13) << at;
    EXPECT_EQ(point->undo.sp_shift, shift) << at;
    EXPECT_EQ(point->undo.reloads[0].number, core::CopyUndo::kNone) << at;
  }
}

TEST_F(CopyFunction, keeps_a_call_if_dead_bytes_hold_the_jump) {
  HandMade function(
      "48 83 ec 08"     // sub $8,%rsp
      "31 ff"           // xor %edi,%edi
      "e8 00 10 00 00"  // call 0x40200b
      "89 c7"           // mov %eax,%edi
      "e8 00 10 00 00"  // call 0x402012
      "48 83 c4 08"     // add $8,%rsp
      "c3");
  function->dead = {{kStart + 0x20, kStart + 0x26}};
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  EXPECT_EQ(copy->kept, (std::vector{kStart + 6, kStart + 13}));
  EXPECT_EQ(copy->landings[1].size, 2);
  EXPECT_EQ(copy->landings[1].via, kStart + 0x21);
  EXPECT_EQ(copy->landings[1].via_size, 5);
}

TEST_F(CopyFunction, lets_a_jump_end_in_dead_bytes) {
  HandMade function(
      "8b 47 f8"  // mov -8(%rdi),%eax
      "c3");
  const auto without = copy_function(*function, kPlace);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->landings[0].form, Form::breakpoint);
  function->dead = {{kStart + 4, kStart + 0x10}};
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->landings[0].size, 5);
  EXPECT_EQ(difference(*function, *copy), "");
  function->is_complete = false;
  EXPECT_EQ(copy_function(*function, kPlace)->landings[0].size, 2);
}

TEST_F(CopyFunction, puts_second_jumps_between_blocks_of_complete_functions) {
  const char* const code =
      "85 ff"                 // test %edi,%edi
      "74 1a"                 // je 0x40101e
      "e8 00 10 00 00"        // call
      "89 c7"                 // mov %eax,%edi
      "e8 00 10 00 00"        // call
      "31 c0"                 // xor %eax,%eax
      "48 89 c8"              // mov %rcx,%rax
      "c3"                    // ret
      "0f 1f 80 00 00 00 00"  // nop
      "90"
      "b8 01 00 00 00"  // 40101e: mov $1,%eax
      "c3";
  HandMade function(code);
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  ASSERT_EQ(copy->landings.size(), 5U);
  EXPECT_EQ(copy->landings[0].size, 2);
  EXPECT_EQ(copy->landings[0].via, kStart + 0x19);
  function->is_complete = false;
  EXPECT_EQ(copy_function(*function, kPlace)->landings[0].size, 0);
}

TEST_F(CopyFunction, puts_second_jumps_into_the_end_of_a_block_and_what_is_behind_it) {
  HandMade function(
      "85 f6"        // test %esi,%esi
      "74 0c"        // je 0x401010
      "83 fe 01"     // cmp $1,%esi
      "74 0f"        // je 0x401018
      "8b 04 97"     // mov (%rdi,%rdx,4),%eax
      "c3"           // ret
      "0f 1f 00"     // nop
      "0f b6 04 17"  // 401010: movzbl (%rdi,%rdx,1),%eax
      "c3"           // ret
      "0f 1f 00"     // nop
      "0f b7 04 57"  // 401018: movzwl (%rdi,%rdx,2),%eax
      "c3");
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  EXPECT_EQ(copy->landings[0].size, 2);
  EXPECT_EQ(copy->landings[0].via, kStart + 0xb);  // two bytes of its block, and the nop
  function->jumps_within = false;
  EXPECT_EQ(copy_function(*function, kPlace)->landings[0].form, Form::breakpoint);
}

TEST_F(CopyFunction, comes_back_from_a_system_call_without_counting_again) {
  HandMade function(
      "b8 27 00 00 00"  // mov $39,%eax
      "0f 05"           // syscall
      "48 89 c7"        // mov %rax,%rdi
      "48 89 f8"        // mov %rdi,%rax
      "c3");
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  EXPECT_EQ(copy->blocks.size(), 1U);
  EXPECT_EQ(copy->kept, std::vector{kStart + 5});
  ASSERT_EQ(copy->landings.size(), 2U);
  EXPECT_EQ(copy->landings[1].at, kStart + 7);
  EXPECT_TRUE(copy->to_original(copy->landings[1].copy)->is_counted);
}

TEST_F(CopyFunction, changes_no_byte_where_an_instruction_begins_if_incomplete) {
  HandMade function(
      "48 01 f7"        // add %rsi,%rdi
      "48 89 f8"        // mov %rdi,%rax
      "e8 00 10 00 00"  // call
      "b8 27 00 00 00"  // mov $39,%eax
      "c3");
  function->is_complete = false;
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_FALSE(copy->is_complete);
  EXPECT_EQ(copy->landings[0].form, Form::breakpoint);
  EXPECT_EQ(copy->landings[1].form, Form::jump);
  EXPECT_EQ(difference(*function, *copy), "");
}

TEST_F(CopyFunction, spills_where_nothing_is_dead) {
  const char* const code =
      "75 02"  // jne 0x401004, which reads flags
      "ff e0"  // jmp *%rax: all is live
      "ff e1";
  HandMade function(code);
  function.graph().unresolved = {kStart + 2, kStart + 4};
  const auto copy = copy_function(*function, kPlace);
  // Flags at the entry are the caller's.
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error(), CopyRefusal::flags_across_calls);
  function->is_called = false;
  const auto part = copy_function(*function, kPlace);
  ASSERT_TRUE(part);
  EXPECT_EQ(difference(*function, *part), "");

  HandMade compares(
      "48 39 f7"  // cmp %rsi,%rdi
      "75 02"     // jne 0x401007
      "ff e0"     // jmp *%rax
      "ff e1");   // jmp *%rcx
  const auto spilled = copy_function(*compares, kPlace);
  ASSERT_TRUE(spilled);
  EXPECT_EQ(difference(*compares, *spilled), "");
  const Address block = spilled->blocks[1].copy;
  const Address push = block + 5;
  const Address load = push + 1;
  EXPECT_EQ(spilled->to_original(push)->undo, core::CopyUndo{128});
  EXPECT_EQ(spilled->to_original(load + 9)->undo, (core::CopyUndo{136, {{{0, 0}}}}));
  EXPECT_FALSE(spilled->to_original(load + 13)->is_counted);
  EXPECT_TRUE(spilled->to_original(load + 22)->is_counted);
  EXPECT_EQ(spilled->to_copy(kStart + 5), block);

  compares->allow_spill = false;
  const auto refused = copy_function(*compares, kPlace);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), CopyRefusal::no_scratch_register);
}

/// A loop from 0x401002 on.
constexpr const char* kLoop =
    "31 c0"     // xor %eax,%eax
    "48 01 f8"  // add %rdi,%rax
    "48 ff cf"  // dec %rdi
    "75 f8"     // jne 0x401002
    "c3";

TEST_F(CopyFunction, names_loop_heads_as_exits) {
  HandMade function(kLoop);
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  ASSERT_EQ(copy->exits.size(), 1U);
  EXPECT_EQ(copy->exits[0].original, kStart + 2);
  EXPECT_EQ(copy->exits[0].at, copy->blocks[1].copy);
  EXPECT_EQ(copy->exits[0].size, 5);
}

TEST_F(CopyFunction, has_room_for_an_exit_where_the_counter_cannot_be_first) {
  HandMade short_head(
      "48 39 f7"  // cmp %rsi,%rdi
      "0f 94 c0"  // sete %al
      "48 ff cf"  // dec %rdi
      "75 f8"     // jne 0x401003
      "c3");
  const auto with_nop = copy_function(*short_head, kPlace);
  ASSERT_TRUE(with_nop);
  EXPECT_EQ(difference(*short_head, *with_nop), "");
  ASSERT_EQ(with_nop->exits.size(), 1U);
  EXPECT_EQ(with_nop->exits[0].room, 5);
  const auto at = static_cast<std::ptrdiff_t>(with_nop->exits[0].at - with_nop->at);
  EXPECT_EQ(std::vector(with_nop->code.begin() + at, with_nop->code.begin() + at + 8),
            bytes_of("0f 1f 44 00 00 0f 94 c0"));

  HandMade long_head(
      "48 39 f7"              // cmp %rsi,%rdi
      "0f 94 05 00 00 00 00"  // sete 0(%rip)
      "48 ff cf"              // dec %rdi
      "75 f4"                 // jne 0x401003
      "c3");
  const auto with_own = copy_function(*long_head, kPlace);
  ASSERT_TRUE(with_own);
  EXPECT_EQ(difference(*long_head, *with_own), "");
  ASSERT_EQ(with_own->exits.size(), 1U);
  EXPECT_EQ(with_own->exits[0].room, 7);
}

TEST_F(CopyFunction, refuses_what_it_cannot_prove) {
  const std::vector<std::pair<const char*, CopyRefusal>> refused = {
      {"65 48 8b 04 25 00 00 00 00 c3", CopyRefusal::uses_counter_segment},  // mov %gs:0,%rax
      {"f3 48 0f ae d8 c3", CopyRefusal::uses_counter_segment},              // wrgsbase %rax
      {"8e e8 c3", CopyRefusal::uses_counter_segment},                       // mov %eax,%gs
      {"8e d0 c3", CopyRefusal::unmovable},                                  // mov %eax,%ss
      {"c7 f8 00 00 00 00 c3", CopyRefusal::unmovable},                      // xbegin
      {"0f 05 c3", CopyRefusal::unmovable},                                  // syscall at the entry
      {"0f 34 c3", CopyRefusal::unmovable},                                  // sysenter
      {"90 cd 03", CopyRefusal::unmovable},                                  // int $3
      {"48 cb", CopyRefusal::unmovable},                                     // lretq
      {"67 8d 05 00 00 00 00 c3", CopyRefusal::unmovable},                   // lea 0(%eip),%eax
      {"06", CopyRefusal::not_mapped},
  };
  for (const auto& [hex, reason] : refused) {
    HandMade function(hex);
    const auto copy = copy_function(*function, kPlace);
    ASSERT_FALSE(copy) << hex;
    EXPECT_EQ(copy.error(), reason) << hex << ": " << to_string(copy.error());
  }
}

TEST_F(CopyFunction, refuses_places_that_do_not_do) {
  const char* const code = "48 8b 05 00 10 00 00 c3";  // mov 0x1000(%rip),%rax
  HandMade function(code);
  core::CopyPlace far = kPlace;
  far.at = Address{0x7f0000000000};
  EXPECT_EQ(copy_function(*function, far).error(), CopyRefusal::out_of_reach);
  core::CopyPlace narrow = kPlace;
  narrow.room = 16;
  EXPECT_EQ(copy_function(*function, narrow).error(), CopyRefusal::no_room);
  core::CopyPlace used_up = kPlace;
  used_up.counters = (std::uint64_t{1} << 31U) - 7;
  EXPECT_EQ(copy_function(*function, used_up).error(), CopyRefusal::no_counter);
  function->entries.push_back(kStart + 1);
  EXPECT_EQ(copy_function(*function, kPlace).error(), CopyRefusal::not_mapped);
}

/// Pieces of code that random functions are made of.
const std::vector<std::vector<std::byte>>& pieces() {
  static const std::vector<std::vector<std::byte>> kPieces = [] {
    std::vector<std::vector<std::byte>> made;
    for (const char* hex : {"48 01 f7",
                            "48 39 f7",
                            "75 04",
                            "74 f0",
                            "eb 03",
                            "e9 10 00 00 00",
                            "0f 84 08 00 00 00",
                            "e8 00 10 00 00",
                            "e8 f0 ff ff ff",
                            "ff d0",
                            "ff 54 24 08",
                            "ff 15 00 10 00 00",
                            "0f 05",
                            "e3 05",
                            "e2 f2",
                            "c3",
                            "90",
                            "48 8b 05 10 00 00 00",
                            "ff e0",
                            "cc",
                            "0f 0b",
                            "f3 a4",
                            "48 11 f7",
                            "0f 94 c0",
                            "41 ff d3",
                            "ff d4",
                            "50",
                            "66 0f 1f 44 00 00"}) {
      made.push_back(bytes_of(hex));
    }
    return made;
  }();
  return kPieces;
}

std::vector<std::byte> random_code(std::mt19937& random) {
  std::vector<std::byte> code;
  const auto count = 1 + random() % 40;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& piece = pieces()[random() % pieces().size()];
    code.insert(code.end(), piece.begin(), piece.end());
  }
  for (std::size_t i = 0; i < random() % 4; ++i) {
    code[random() % code.size()] = static_cast<std::byte>(random());
  }
  return code;
}

TEST_F(CopyFunction, is_right_or_refuses_whatever_the_code_is) {
  std::mt19937 random(1);
  std::size_t copied = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> code = random_code(random);
    if (round % 10 == 0) {
      for (std::byte& byte : code) {
        byte = static_cast<std::byte>(random());
      }
    }
    std::vector<Address> leaders{kStart};
    if (round % 3 == 0) {
      leaders.push_back(kStart + random() % code.size());
    }
    HandMade function(code, leaders);
    function->is_complete = round % 2 == 0;
    function->dead = {{function->bounds.end, function->bounds.end + random() % 30}};
    const auto copy = copy_function(*function, kPlace);
    if (copy) {
      ++copied;
      ASSERT_EQ(difference(*function, *copy), "") << round;
    }
  }
  EXPECT_GT(copied, 500U);
}

TEST_F(CopyFunction, does_not_trust_the_graph) {
  std::mt19937 random(2);
  std::size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    HandMade function(random_code(random));
    auto& blocks = function.graph().blocks;
    if (blocks.empty()) {
      continue;
    }
    core::BasicBlock& block = blocks[random() % blocks.size()];
    switch (random() % 6) {
      case 0:
        block.start = block.start + random() % 9;
        break;
      case 1:
        block.lengths[random() % block.lengths.size()] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        block.lengths.clear();
        break;
      case 3:
        block.lengths.push_back(static_cast<std::uint8_t>(random() % 8));
        break;
      case 4:
        block.start = Address{random()};
        break;
      default:
        blocks.push_back(blocks[random() % blocks.size()]);
        break;
    }
    const auto copy = copy_function(*function, kPlace);
    refused += copy ? 0 : 1;
  }
  EXPECT_GT(refused, 2000U);
}

TEST_F(CopyFunction, has_a_table_of_its_own_for_a_switch) {
  HandMade function(
      "48 8d 15 21 00 00 00"                               // lea 0x401028,%rdx
      "48 83 ff 04"                                        // cmp $4,%rdi
      "73 0a"                                              // jae 0x401017
      "48 63 04 ba"                                        // movslq (%rdx,%rdi,4),%rax
      "48 01 d0"                                           // add %rdx,%rax
      "ff e0"                                              // jmp *%rax
      "90"                                                 //
      "b8 01 00 00 00 c3"                                  // 0x401017: mov $1,%eax; ret
      "b8 02 00 00 00 c3"                                  // 0x40101d: mov $2,%eax; ret
      "90 90 90 90 90"                                     //
      "ef ff ff ff f5 ff ff ff ef ff ff ff f5 ff ff ff");  // 0x401028
  ASSERT_EQ(function.graph().tables.size(), 1U);
  const auto without = copy_function(*function, kPlace);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->data, 0U);
  function->copies_tables = true;
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(difference(*function, *copy), "");
  constexpr std::uint64_t kEntry = 8;
  ASSERT_GE(copy->data, 4 * kEntry);
  std::uint64_t first = 0;
  std::memcpy(&first, &copy->code[copy->code.size() - 4 * kEntry], sizeof first);
  EXPECT_EQ(copy->to_original(Address{first})->original, kStart + 0x17);
}

// The operand's displacement and what the register has more than the entry's number cancel out.
TEST_F(CopyFunction, has_no_table_of_its_own_where_a_register_is_not_the_entrys_number) {
  HandMade function(
      "48 8d 15 21 00 00 00"                               // lea 0x401028,%rdx
      "48 8d 47 fc"                                        // lea -4(%rdi),%rax
      "48 83 f8 04"                                        // cmp $4,%rax
      "73 0b"                                              // jae 0x40101c
      "48 63 44 ba f0"                                     // movslq -16(%rdx,%rdi,4),%rax
      "48 01 d0"                                           // add %rdx,%rax
      "ff e0"                                              // jmp *%rax
      "90"                                                 //
      "b8 01 00 00 00 c3"                                  // 0x40101c
      "b8 02 00 00 00 c3"                                  // 0x401022
      "f4 ff ff ff fa ff ff ff f4 ff ff ff fa ff ff ff");  // 0x401028
  EXPECT_EQ(function.graph().table_destinations, (std::vector{kStart + 0x1c, kStart + 0x22}));
  EXPECT_TRUE(function.graph().tables.empty());
  function->copies_tables = true;
  const auto copy = copy_function(*function, kPlace);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->data, 0U);
}

}  // namespace
}  // namespace sp::rewriter
