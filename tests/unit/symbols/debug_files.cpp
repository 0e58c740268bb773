#include "symbols/debug_files.h"

#include <gtest/gtest.h>
#include <lzma.h>

#include <string>

#include "symbols/mini_debug_info.h"
#include "unit/symbols/elf_builder.h"
#include "unit/symbols/scratch_folder.h"

namespace {

using sp::symbols::DebugFiles;
using sp::symbols::ElfSections;
using sp::symbols::unpack_mini_debug_info;
using sp::test::Bytes;
using sp::test::bytes_of;
using sp::test::ElfBuilder;

const std::uint8_t* raw(const Bytes& bytes) {
  return static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data()));
}

Bytes debug_file(std::string_view build_id, std::string_view symbol = "hidden") {
  ElfBuilder builder;
  if (!build_id.empty()) {
    builder.set_build_id(build_id);
  }
  const auto text =
      builder.add({".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, {}, 0x100});
  builder.add_symbol({std::string(symbol), 0x1000, 0x10, text});
  return builder.build();
}

/// A stripped program with a build-id and a link to `name`.
ElfSections program(std::string_view build_id, const std::string& name, std::uint32_t crc) {
  ElfBuilder builder;
  if (!build_id.empty()) {
    builder.set_build_id(build_id);
  }
  builder.add_code(".text", 0x1000, 0x100);
  Bytes link = bytes_of(name);
  link.push_back(std::byte{0});
  link.resize((link.size() + 3) / 4 * 4);
  sp::test::append(link, crc);
  builder.add({".gnu_debuglink", SHT_PROGBITS, 0, 0, link});
  return ElfSections(builder.build_file());
}

constexpr std::string_view kId = "\x01\x02\x03\x04";
constexpr const char* kIdText = "01020304";

class DebugFilesTest : public testing::Test {
 protected:
  [[nodiscard]] std::string found(const ElfSections& sections, const std::string& build_id,
                                  const std::string& module = "/opt/tool/prog") const {
    const DebugFiles files({root_.path() + "/dbg"}, root_.path());
    const auto file = files.find(module, sections, build_id);
    return file ? file->path.substr(root_.path().size()) : "";
  }

  sp::test::ScratchFolder root_;
};

TEST_F(DebugFilesTest, are_found_by_build_id) {
  root_.write("dbg/.build-id/01/020304.debug", debug_file(kId));
  EXPECT_EQ(found(program(kId, "prog.debug", 0), kIdText), "/dbg/.build-id/01/020304.debug");
}

TEST_F(DebugFilesTest, are_found_below_the_modules_own_root) {
  root_.write("usr/lib/debug/.build-id/01/020304.debug", debug_file(kId));
  EXPECT_EQ(found(program(kId, "prog.debug", 0), kIdText),
            "/usr/lib/debug/.build-id/01/020304.debug");
}

TEST_F(DebugFilesTest, are_refused_when_their_build_id_is_another) {
  root_.write("dbg/.build-id/01/020304.debug", debug_file("\x09\x09\x09\x09"));
  root_.write("opt/tool/prog.debug", debug_file("\x09\x09\x09\x09"));
  EXPECT_EQ(found(program(kId, "prog.debug", 0), kIdText), "");
}

TEST_F(DebugFilesTest, are_found_by_link_in_each_of_its_places) {
  const Bytes file = debug_file("");
  const std::uint32_t crc = ::lzma_crc32(raw(file), file.size(), 0);
  for (const std::string place : {"opt/tool/prog.debug", "opt/tool/.debug/prog.debug",
                                  "dbg/opt/tool/prog.debug", "usr/lib/debug/opt/tool/prog.debug"}) {
    const std::string path = root_.write(place, file);
    EXPECT_EQ(found(program("", "prog.debug", crc), ""), "/" + place);
    EXPECT_EQ(found(program("", "prog.debug", crc + 1), ""), "");
    std::filesystem::remove(path);
  }
}

TEST_F(DebugFilesTest, are_not_looked_for_outside_of_their_folders) {
  const Bytes file = debug_file("");
  root_.write("opt/secret", file);
  const std::uint32_t crc = ::lzma_crc32(raw(file), file.size(), 0);
  EXPECT_EQ(found(program("", "../secret", crc), ""), "");
}

TEST_F(DebugFilesTest, may_be_split_once_more) {
  ElfBuilder builder;
  Bytes link = bytes_of("../common.debug");
  link.push_back(std::byte{0});
  const Bytes id = bytes_of(kId);
  link.insert(link.end(), id.begin(), id.end());
  builder.add({".gnu_debugaltlink", SHT_PROGBITS, 0, 0, link});
  const ElfSections debug(builder.build_file());
  root_.write("dbg/common.debug", debug_file(kId));
  const DebugFiles files({}, "");
  const auto alternate = files.find_alternate(root_.path() + "/dbg/sub/prog.debug", debug);
  EXPECT_FALSE(alternate.has_value());  // dbg/sub does not exist
  std::filesystem::create_directory(root_.path() + "/dbg/sub");
  EXPECT_TRUE(files.find_alternate(root_.path() + "/dbg/sub/prog.debug", debug).has_value());
  root_.write("dbg/common.debug", debug_file("\x09\x09\x09\x09"));
  EXPECT_FALSE(files.find_alternate(root_.path() + "/dbg/sub/prog.debug", debug).has_value());
}

Bytes packed(const Bytes& file) {
  Bytes out(file.size() + 4096);
  std::size_t size = 0;
  auto* target = static_cast<std::uint8_t*>(static_cast<void*>(out.data()));
  EXPECT_EQ(::lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, nullptr, raw(file), file.size(), target,
                                      &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

TEST(MiniDebugInfo, comes_back_as_it_was_packed) {
  const Bytes file = debug_file(kId);
  const auto unpacked = unpack_mini_debug_info(packed(file));
  ASSERT_TRUE(unpacked.has_value());
  EXPECT_TRUE(std::equal(file.begin(), file.end(), (*unpacked)->bytes().begin(),
                         (*unpacked)->bytes().end()));
}

TEST(MiniDebugInfo, that_is_damaged_cut_or_too_large_is_refused) {
  const Bytes good = packed(Bytes(100'000, std::byte{7}));
  EXPECT_TRUE(unpack_mini_debug_info(good).has_value());
  EXPECT_FALSE(unpack_mini_debug_info(good, 50'000).has_value());
  EXPECT_FALSE(unpack_mini_debug_info({}).has_value());
  EXPECT_FALSE(unpack_mini_debug_info(std::span(good).first(good.size() / 2)).has_value());
  Bytes bad = good;
  bad[bad.size() / 2] ^= std::byte{0xFF};
  EXPECT_FALSE(unpack_mini_debug_info(bad).has_value());
}

}  // namespace
