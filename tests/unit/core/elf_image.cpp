#include "core/elf_image.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/symbols/elf_builder.h"

namespace {

using sp::core::build_id_of_notes;
using sp::core::ElfImage;
using sp::core::MappedFile;
using sp::test::Bytes;
using sp::test::ElfBuilder;

TEST(ElfImage, tells_where_bytes_go_in_memory) {
  ElfBuilder builder;
  builder.add_code(".text", 0x401000, sp::test::bytes_of({0xC3, 0x90, 0xCC}));
  builder.add({".data", SHT_PROGBITS, SHF_ALLOC, 0x500000, sp::test::bytes_of({1, 2}), 0x100});
  const auto image = builder.build_image();
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->machine(), EM_X86_64);
  ASSERT_EQ(image->segments().size(), 2U);
  const auto& text = image->segments()[0];
  EXPECT_EQ(text.address, 0x401000U);
  EXPECT_TRUE(text.executable);
  EXPECT_EQ(image->address_of_file_offset(text.file_offset + 2), 0x401002U);
  EXPECT_EQ(image->address_of_file_offset(0), std::nullopt);
  EXPECT_EQ(image->bytes_at(0x401001).size(), 2U);
  EXPECT_EQ(image->bytes_at(0x401001)[1], std::byte{0xCC});
  EXPECT_TRUE(image->bytes_at(0x401003).empty());
  EXPECT_EQ(image->bytes_at(0x500000).size(), 2U);
  EXPECT_TRUE(image->bytes_at(0x500050).empty());  // in memory, not in the file
  EXPECT_TRUE(image->is_executable_at(0x401002));
  EXPECT_FALSE(image->is_executable_at(0x401003));
  EXPECT_FALSE(image->is_executable_at(0x500000));
}

TEST(ElfImage, reads_the_build_id_and_the_unwind_tables_place) {
  ElfBuilder builder;
  builder.set_build_id("\xAB\x01\xFF");
  builder.add({".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 0x3000, Bytes(12)});
  const auto image = builder.build_image();
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->build_id(), "ab01ff");
  ASSERT_TRUE(image->eh_frame_header().has_value());
  EXPECT_EQ(image->eh_frame_header()->address, 0x3000U);
  EXPECT_EQ(image->eh_frame_header()->size, 12U);
}

TEST(ElfImage, is_told_from_others_without_a_build_id) {
  const auto with_byte = [](std::uint8_t byte) {
    ElfBuilder builder;
    builder.add_code(".text", 0x401000, sp::test::bytes_of({0xC3, byte}));
    return builder.build_image();
  };
  EXPECT_EQ(with_byte(1)->identity(), with_byte(1)->identity());
  EXPECT_NE(with_byte(1)->identity(), with_byte(2)->identity());
  ElfBuilder builder;
  builder.set_build_id("\xAB");
  EXPECT_EQ(builder.build_image()->identity(), "ab");
}

TEST(ElfImage, reads_real_files) {
  const auto file = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file.has_value());
  const auto image = ElfImage::parse(*file);
  ASSERT_TRUE(image.has_value());
  EXPECT_FALSE((*image)->segments().empty());
  EXPECT_TRUE((*image)->eh_frame_header().has_value());
}

TEST(ElfImage, refuses_what_is_not_a_64_bit_little_endian_file) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 16);
  const Bytes good = builder.build();
  EXPECT_TRUE(ElfImage::parse(MappedFile::copy(good)).has_value());
  EXPECT_FALSE(ElfImage::parse(MappedFile::copy({})).has_value());
  EXPECT_FALSE(
      ElfImage::parse(MappedFile::copy(Bytes(good.begin(), good.begin() + 63))).has_value());
  for (const auto& [at, value] :
       {std::pair{0, 0x7E}, {EI_CLASS, ELFCLASS32}, {EI_DATA, ELFDATA2MSB}}) {
    Bytes bad = good;
    bad[static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
    const auto image = ElfImage::parse(MappedFile::copy(bad));
    ASSERT_FALSE(image.has_value());
    EXPECT_EQ(image.error().code, ENOEXEC);
  }
}

TEST(ElfImage, refuses_program_headers_that_are_cut_off) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 16);
  Bytes file = builder.build();
  file.resize(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) - 1);
  EXPECT_FALSE(ElfImage::parse(MappedFile::copy(file)).has_value());
}

TEST(ElfImage, never_reads_past_a_cut_file) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 0x100);
  const auto whole = builder.build_image();
  Bytes file(whole->bytes().begin(), whole->bytes().end());
  file.resize(whole->segments()[0].file_offset + 0x10);
  const auto cut = ElfImage::parse(MappedFile::copy(file));
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ((*cut)->bytes_at(0x1000).size(), 0x10U);
  EXPECT_TRUE((*cut)->bytes_at(0x1010).empty());
  EXPECT_TRUE((*cut)->bytes_at(0x1080).empty());
}

Bytes note(std::string_view owner, std::uint32_t type, std::string_view text, std::size_t align) {
  Bytes bytes;
  sp::test::append(bytes, Elf64_Nhdr{static_cast<Elf64_Word>(owner.size()),
                                     static_cast<Elf64_Word>(text.size()), type});
  for (const std::string_view part : {owner, text}) {
    const Bytes content = sp::test::bytes_of(part);
    bytes.insert(bytes.end(), content.begin(), content.end());
    bytes.resize((bytes.size() + align - 1) / align * align);
  }
  return bytes;
}

TEST(BuildId, is_found_among_other_notes) {
  using namespace std::string_view_literals;
  Bytes notes = note("stapsdt\0"sv, 3, "abcdefg", 4);
  for (const Bytes& next : {note("GNU\0"sv, NT_GNU_ABI_TAG, "0123456789abcdef", 4),
                            note("GNU\0"sv, NT_GNU_BUILD_ID, "\x0A\x0B", 4)}) {
    notes.insert(notes.end(), next.begin(), next.end());
  }
  EXPECT_EQ(build_id_of_notes(notes, 4), "0a0b");
  EXPECT_EQ(build_id_of_notes(note("GNU\0"sv, NT_GNU_BUILD_ID, "\x0C", 8), 8), "0c");
}

TEST(BuildId, is_not_read_from_damaged_notes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(build_id_of_notes({}, 4), "");
  EXPECT_EQ(build_id_of_notes(Bytes(11), 4), "");
  EXPECT_EQ(build_id_of_notes(Bytes(1000), 4), "");
  EXPECT_EQ(build_id_of_notes(Bytes(1000, std::byte{0xFF}), 4), "");
  const std::string huge(1000, 'x');
  EXPECT_EQ(build_id_of_notes(note("GNU\0"sv, NT_GNU_BUILD_ID, huge, 4), 4), "");
}

}  // namespace
