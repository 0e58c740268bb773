#include "core/mapping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace {

using sp::core::Address;
using sp::core::find_mapping;
using sp::core::Mapping;
using sp::core::parse_maps;

TEST(Maps, are_read_field_by_field) {
  const auto maps =
      parse_maps("55d0c0a02000-55d0c0a07000 r-xp 00002000 fd:01 1234    /usr/bin/cat\n");
  ASSERT_EQ(maps.size(), 1U);
  const Mapping& mapping = maps[0];
  EXPECT_EQ(mapping.range.begin, Address{0x55d0c0a02000});
  EXPECT_EQ(mapping.range.end, Address{0x55d0c0a07000});
  EXPECT_TRUE(mapping.readable);
  EXPECT_FALSE(mapping.writable);
  EXPECT_TRUE(mapping.executable);
  EXPECT_FALSE(mapping.deleted);
  EXPECT_EQ(mapping.file_offset, 0x2000U);
  EXPECT_EQ(mapping.device, 0xFD00001U);
  EXPECT_EQ(mapping.inode, 1234U);
  EXPECT_EQ(mapping.path, "/usr/bin/cat");
}

TEST(Maps, hold_memory_without_a_file) {
  const auto maps = parse_maps(
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].path, "");
  EXPECT_TRUE(maps[0].writable && maps[0].executable);
  EXPECT_EQ(maps[1].path, "[stack]");
  EXPECT_FALSE(maps[2].readable);
  EXPECT_EQ(maps[2].range.end, Address{0xffffffffff601000});
}

TEST(Maps, keep_odd_paths) {
  const auto maps = parse_maps(
      "1000-2000 r-xp 00000000 fd:01 1 /tmp/a b/c  d (deleted)\n"
      "2000-3000 r-xp 00000000 fd:01 2 /tmp/two\\012lines\n"
      "3000-4000 r-xp 00000000 fd:01 3 /memfd:jit (deleted)\n");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].path, "/tmp/a b/c  d");
  EXPECT_TRUE(maps[0].deleted);
  EXPECT_EQ(maps[1].path, "/tmp/two\nlines");
  EXPECT_EQ(maps[2].path, "/memfd:jit");
}

TEST(Maps, leave_out_lines_that_are_none) {
  EXPECT_TRUE(parse_maps("").empty());
  EXPECT_TRUE(
      parse_maps("\n\nnonsense\n1000\n1000-2000\n1000-2000 r-xp\n-- rwxp 0 0:0 0\n").empty());
  EXPECT_TRUE(parse_maps("1000-2000 r-xp 00000000 fd:01").empty());
  EXPECT_TRUE(parse_maps("11111111111111111-2 r-xp 00000000 fd:01 1").empty());
  EXPECT_EQ(parse_maps("1000-2000 r-xp 00000000 fd:01 1").size(), 1U);
}

TEST(Maps, of_this_process_hold_its_own_code) {
  std::ifstream in("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto maps = parse_maps(text);
  EXPECT_EQ(maps.size(), static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  const Address here{reinterpret_cast<std::uint64_t>(&parse_maps)};  // NOLINT
  const Mapping* mapping = find_mapping(maps, here);
  ASSERT_NE(mapping, nullptr);
  EXPECT_TRUE(mapping->executable);
}

TEST(FindMapping, knows_edges_and_gaps) {
  const auto maps = parse_maps(
      "1000-2000 r-xp 00000000 fd:01 1 /a\n"
      "2000-3000 r--p 00000000 fd:01 1 /b\n"
      "5000-6000 r--p 00000000 fd:01 1 /c\n");
  EXPECT_EQ(find_mapping(maps, Address{0xFFF}), nullptr);
  EXPECT_EQ(find_mapping(maps, Address{0x1000})->path, "/a");
  EXPECT_EQ(find_mapping(maps, Address{0x1FFF})->path, "/a");
  EXPECT_EQ(find_mapping(maps, Address{0x2000})->path, "/b");
  EXPECT_EQ(find_mapping(maps, Address{0x3000}), nullptr);
  EXPECT_EQ(find_mapping(maps, Address{0x5FFF})->path, "/c");
  EXPECT_EQ(find_mapping(maps, Address{0x6000}), nullptr);
  EXPECT_EQ(find_mapping({}, Address{0x6000}), nullptr);
}

}  // namespace
