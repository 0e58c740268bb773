#include "symbols/perf_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "unit/symbols/scratch_folder.h"

namespace {

using sp::symbols::JitSymbols;
using sp::symbols::PerfMap;

std::string name_at(const JitSymbols& symbols, std::uint64_t address) {
  const auto hit = symbols.find(address);
  return hit ? std::string(hit->name) : "";
}

TEST(JitSymbols, names_what_nodes_map_says) {
  const JitSymbols symbols(
      "7f00a000 40 LazyCompile:*hot file.js:1\n"
      "0x7f00a040 0x20 Function:~cold (a b) file.js:9\n");
  EXPECT_EQ(name_at(symbols, 0x7f009fff), "");
  EXPECT_EQ(name_at(symbols, 0x7f00a03f), "LazyCompile:*hot file.js:1");
  EXPECT_EQ(name_at(symbols, 0x7f00a040), "Function:~cold (a b) file.js:9");
  EXPECT_EQ(name_at(symbols, 0x7f00a060), "");
  EXPECT_EQ(symbols.find(0x7f00a050)->begin, 0x7f00a040U);
}

TEST(JitSymbols, lets_later_lines_take_memory_from_earlier_ones) {
  const JitSymbols symbols(
      "1000 100 old\n"
      "1040 20 middle\n"
      "10f0 20 end\n"
      "1000 8 begin\n");
  EXPECT_EQ(name_at(symbols, 0x1007), "begin");
  EXPECT_EQ(name_at(symbols, 0x1008), "old");
  EXPECT_EQ(name_at(symbols, 0x1040), "middle");
  EXPECT_EQ(name_at(symbols, 0x1060), "old");
  EXPECT_EQ(name_at(symbols, 0x10EF), "old");
  EXPECT_EQ(name_at(symbols, 0x10F0), "end");
  EXPECT_EQ(symbols.find(0x1060)->begin, 0x1000U);
}

TEST(JitSymbols, agrees_with_painting_byte_by_byte) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::string text;
    std::map<std::uint64_t, std::string> painted;
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t begin = 0x1000 + random() % 200;
      const std::uint64_t size = 1 + random() % 60;
      text += fmt::format("{:x} {:x} s{}\n", begin, size, i);
      for (std::uint64_t at = begin; at < begin + size; ++at) {
        painted[at] = fmt::format("s{}", i);
      }
    }
    const JitSymbols symbols(text);
    for (std::uint64_t at = 0xFF0; at < 0x1140; ++at) {
      ASSERT_EQ(name_at(symbols, at), painted[at]) << text;
    }
  }
}

TEST(JitSymbols, leaves_out_broken_lines_and_the_one_that_is_still_being_written) {
  const JitSymbols symbols(
      "\n"
      "nonsense\n"
      "1000 zz name\n"
      "1000 10\n"
      "1000 10 \n"
      "1000 0 nothing\n"
      "ffffffffffffffff ffff wraps\n"
      "11111111111111111 10 too long a number\n"
      "2000 10 good\n"
      "3000 10 half a na");
  EXPECT_EQ(symbols.size(), 1U);
  EXPECT_EQ(name_at(symbols, 0x2000), "good");
}

class PerfMapTest : public testing::Test {
 protected:
  static constexpr pid_t kNoSuchPid = 0x7FFFFFF0;  // above pid_max

  [[nodiscard]] std::string map_name(pid_t pid) const {
    return fmt::format("tmp/perf-{}.map", pid);
  }

  sp::test::ScratchFolder root_;
};

TEST_F(PerfMapTest, is_read_from_the_roots_tmp_also_when_the_process_is_gone) {
  root_.write(map_name(kNoSuchPid), "1000 10 jitted\n");
  PerfMap map(kNoSuchPid, root_.path());
  EXPECT_TRUE(map.refresh());
  EXPECT_EQ(name_at(map.symbols(), 0x1001), "jitted");
}

TEST_F(PerfMapTest, is_read_again_only_when_it_has_grown) {
  const std::string path = root_.write(map_name(::getpid()), "1000 10 first\n");
  PerfMap map(::getpid(), root_.path());
  EXPECT_TRUE(map.refresh());
  EXPECT_FALSE(map.refresh());
  std::ofstream(path, std::ios::app) << "2000 10 second\n";
  EXPECT_TRUE(map.refresh());
  EXPECT_EQ(name_at(map.symbols(), 0x1000), "first");
  EXPECT_EQ(name_at(map.symbols(), 0x2000), "second");
}

TEST_F(PerfMapTest, may_appear_late) {
  std::filesystem::create_directory(root_.path() + "/tmp");
  PerfMap map(::getpid(), root_.path());
  EXPECT_FALSE(map.refresh());
  root_.write(map_name(::getpid()), "1000 10 late\n");
  EXPECT_TRUE(map.refresh());
}

TEST_F(PerfMapTest, is_not_believed_when_it_is_a_link) {
  root_.write("elsewhere", "1000 10 planted\n");
  std::filesystem::create_directory(root_.path() + "/tmp");
  std::filesystem::create_symlink(root_.path() + "/elsewhere",
                                  root_.path() + "/" + map_name(::getpid()));
  PerfMap map(::getpid(), root_.path());
  EXPECT_FALSE(map.refresh());
}

TEST_F(PerfMapTest, is_not_believed_when_it_belongs_to_another_user) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const std::string path = root_.write(map_name(::getpid()), "1000 10 planted\n");
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  PerfMap map(::getpid(), root_.path());
  EXPECT_FALSE(map.refresh());
}

}  // namespace
