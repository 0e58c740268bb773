#include "symbols/jit_dump.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "unit/symbols/jit_dump_builder.h"

namespace sp::symbols {
namespace {

using test::JitDumpBuilder;

JitDump::PieceReader reader_of(const std::string& text) {
  return [&text](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
    const std::size_t size =
        offset < text.size() ? std::min<std::size_t>(into.size(), text.size() - offset) : 0;
    std::memcpy(into.data(), text.data() + std::min<std::size_t>(offset, text.size()), size);
    return size;
  };
}

JitDump read(const std::string& text) {
  JitDump dump;
  dump.read_on(reader_of(text));
  return dump;
}

std::string name_at(const JitDump& dump, std::uint64_t address,
                    std::uint64_t time = JitCodes::kAnyTime) {
  const JitCode* code = dump.codes().find(address, time).code;
  return code == nullptr ? "" : code->name;
}

std::string line_at(const JitDump& dump, std::uint64_t address) {
  const JitCode* code = dump.codes().find(address).code;
  const auto line = code == nullptr ? std::nullopt : dump.line_of(*code, address);
  return line ? fmt::format("{}:{}", line->file, line->line) : "";
}

TEST(JitDump, names_code_in_either_byte_order) {
  for (const bool swapped : {false, true}) {
    const auto dump = read(JitDumpBuilder(swapped)
                               .lines(0x1000, {{0x1000, 3, "a.js"}, {0x1010, 4, "a.js"}})
                               .load(0x1000, 0x40, "JS:*hot a.js:3")
                               .load(0x2000, 0x20, "cold")
                               .text());
    EXPECT_EQ(name_at(dump, 0xFFF), "");
    EXPECT_EQ(name_at(dump, 0x103F), "JS:*hot a.js:3");
    EXPECT_EQ(name_at(dump, 0x1040), "");
    EXPECT_EQ(name_at(dump, 0x2000), "cold");
    EXPECT_EQ(line_at(dump, 0x100F), "a.js:3");
    EXPECT_EQ(line_at(dump, 0x1010), "a.js:4");
    EXPECT_EQ(line_at(dump, 0x2000), "");
  }
}

TEST(JitDump, reads_on_where_it_was_cut) {
  const std::string whole = JitDumpBuilder()
                                .lines(0x1000, {{0x1000, 3, "a"}})
                                .load(0x1000, 0x40, "first")
                                .load(0x2000, 300'000, "large")
                                .load(0x90000, 0x10, "last")
                                .text();
  JitDump dump;
  std::string part;
  for (std::size_t size = 0; size <= whole.size(); size += size < 400 ? 1 : 9'973) {
    part = whole.substr(0, size);
    dump.read_on(reader_of(part));
  }
  dump.read_on(reader_of(whole));
  EXPECT_EQ(dump.codes().size(), 3U);
  EXPECT_EQ(line_at(dump, 0x1000), "a:3");
  EXPECT_EQ(name_at(dump, 0x2000 + 299'999), "large");
  EXPECT_EQ(name_at(dump, 0x90000), "last");
}

TEST(JitDump, gives_memory_that_is_reused_to_the_youngest_that_is_old_enough) {
  const auto dump = read(JitDumpBuilder()
                             .load(0x1000, 0x100, "old", 100)
                             .load(0x1040, 0x20, "middle", 200)
                             .load(0x1050, 0x100, "new", 300)
                             .text());
  EXPECT_EQ(name_at(dump, 0x1050), "new");
  EXPECT_EQ(name_at(dump, 0x1050, 300), "new");
  EXPECT_EQ(name_at(dump, 0x1050, 299), "middle");
  EXPECT_EQ(name_at(dump, 0x1050, 199), "old");
  EXPECT_EQ(name_at(dump, 0x1050, 50), "new") << "its clock cannot be the sample's";
  EXPECT_EQ(name_at(dump, 0x1040), "middle");
  EXPECT_EQ(name_at(dump, 0x1000, 300), "old");
}

TEST(JitDump, agrees_with_painting_byte_by_byte) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    JitDumpBuilder builder;
    std::map<std::uint64_t, std::string> painted;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const std::uint64_t begin = 0x1000 + random() % 200;
      const std::uint64_t size = 1 + random() % 60;
      builder.load(begin, size, fmt::format("s{}", i), i, i);
      for (std::uint64_t at = begin; at < begin + size; ++at) {
        painted[at] = fmt::format("s{}", i);
      }
    }
    const auto dump = read(builder.text());
    for (std::uint64_t at = 0xFF0; at < 0x1140; ++at) {
      ASSERT_EQ(name_at(dump, at), painted[at]) << round << ' ' << at;
    }
  }
}

TEST(JitDump, keeps_a_bounded_number_of_generations) {
  JitDumpBuilder builder;
  for (int i = 0; i < 1000; ++i) {
    builder.load(0x1000, 0x10, fmt::format("f{}", i), 10, static_cast<std::uint64_t>(i));
  }
  const auto dump = read(builder.text());
  EXPECT_EQ(dump.codes().size(), JitCodes::kMaxGenerations);
  EXPECT_EQ(name_at(dump, 0x1000), "f999");
}

TEST(JitDump, follows_code_that_is_moved_with_its_lines) {
  const auto dump = read(JitDumpBuilder()
                             .lines(0x1000, {{0x1000, 3, "a"}, {0x1008, 5, "a"}})
                             .load(0x1000, 0x10, "moved", 100, 7)
                             .move(0x1000, 0x5000, 0x10, 7, 200)
                             .move(0x1000, 0x6000, 0x10, 8, 200)
                             .text());
  EXPECT_EQ(name_at(dump, 0x500F), "moved");
  EXPECT_EQ(line_at(dump, 0x5009), "a:5");
  EXPECT_EQ(name_at(dump, 0x6000), "") << "of an index that was never loaded";
}

TEST(JitDump, knows_writers_that_count_the_elf_header_of_perf_inject) {
  const auto dump = read(JitDumpBuilder()
                             .lines(0x1000, {{0x1040, 3, "a"}, {0x1050, 4, "a"}})
                             .load(0x1000, 0x20, "of_v8")
                             .text());
  EXPECT_EQ(line_at(dump, 0x1000), "a:3");
  EXPECT_EQ(line_at(dump, 0x1010), "a:4");
}

TEST(JitDump, takes_the_file_of_the_line_before_where_agents_abbreviate_it) {
  const auto dump = read(JitDumpBuilder()
                             .lines(0x1000, {{0x1000, 3, "A.java"}, {0x1010, 4, "\xff"}})
                             .load(0x1000, 0x20, "f")
                             .text());
  EXPECT_EQ(line_at(dump, 0x1011), "A.java:4");
}

TEST(JitDump, leaves_out_lines_that_are_nonsense) {
  const auto dump = read(JitDumpBuilder()
                             .lines(0x1000, {{0x1000, 3, "a"}, {0x20, 4, "a"}})
                             .load(0x1000, 0x20, "below")
                             .lines(0x2000, {{0x2000, 3, "\x01x"}})
                             .load(0x2000, 0x20, "no_path")
                             .record(2, 16)
                             .raw(std::string(8, '\1') + std::string(8, '\x7f'))
                             .load(0x3000, 0x20, "after_a_huge_count")
                             .text());
  EXPECT_EQ(line_at(dump, 0x1000), "");
  EXPECT_EQ(line_at(dump, 0x2000), "");
  EXPECT_EQ(name_at(dump, 0x3000), "after_a_huge_count");
}

TEST(JitDump, skips_records_that_it_does_not_know_and_ends_at_damage_or_the_last_record) {
  JitDumpBuilder builder;
  builder.record(4, 5).raw("12345").record(77, 2).raw("12").load(0x1000, 0x10, "known");
  const std::string damaged = JitDumpBuilder(builder).record(0, 4).raw("1234").text();
  EXPECT_EQ(name_at(read(damaged), 0x1000), "known");
  const auto closed = read(JitDumpBuilder(builder).record(3, 0).load(0x2000, 8, "late").text());
  EXPECT_EQ(closed.codes().size(), 1U);
  const auto empty = read(JitDumpBuilder().load(0x1000, 0, "nothing").load(~0ULL, 9, "w").text());
  EXPECT_EQ(empty.codes().size(), 0U);
}

TEST(JitDump, refuses_what_is_no_dump) {
  EXPECT_EQ(read("").codes().size(), 0U);
  EXPECT_EQ(read("7f45 and so on, a text that is longer than the header of a dump").codes().size(),
            0U);
  EXPECT_TRUE(read(JitDumpBuilder().text()).has_monotonic_times());
  EXPECT_FALSE(read(JitDumpBuilder(false, 1).text()).has_monotonic_times());
}

TEST(JitDump, survives_any_damage) {
  std::minstd_rand random(7);
  JitDumpBuilder builder;
  for (std::uint64_t i = 0; i < 12; ++i) {
    builder.lines(0x1000 * i, {{0x1000 * i, 3, "a"}, {0x1000 * i + 8, 5, "\xff"}});
    builder.load(0x1000 * i, 0x20, "function", 10 * i, i);
    builder.move(0x1000 * i, 0x100 * i, 0x20, i, 10 * i);
  }
  for (int round = 0; round < 5'000; ++round) {
    std::string text = builder.text();
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      const std::size_t at = random() % text.size();
      if (random() % 4 == 0) {
        text.erase(at, 1 + random() % 40);
      } else {
        text[at] = static_cast<char>(random() % 256);
      }
    }
    JitDump dump;
    const std::string begin = text.substr(0, random() % text.size());
    dump.read_on(reader_of(begin));
    dump.read_on(reader_of(text));
    for (std::uint64_t address = 0; address < 0xC000; address += 0x7F) {
      (void)line_at(dump, address);
    }
    EXPECT_LE(dump.codes().size(), 24U);
  }
}

}  // namespace
}  // namespace sp::symbols
