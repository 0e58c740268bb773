#include "supervisor/unwinding/frame_table.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

// Given by the linker: the first byte of the file in memory.
extern "C" const char __ehdr_start[];

namespace sp::supervisor {
namespace {

std::shared_ptr<const core::ElfImage> image_of(std::vector<std::byte> bytes) {
  const auto image = core::ElfImage::parse(core::MappedFile::copy(std::move(bytes)));
  return image ? *image : nullptr;
}

std::vector<std::byte> own_program() {
  const auto file = core::MappedFile::open("/proc/self/exe");
  return {(*file)->bytes().begin(), (*file)->bytes().end()};
}

__attribute__((noinline)) int known_function(int x) { return x * 3 + 1; }

/// The ELF address of known_function: what the symbol table would say.
std::uint64_t known_address() {
  const auto first = reinterpret_cast<std::uint64_t>(&known_function);
  return first - reinterpret_cast<std::uint64_t>(__ehdr_start);
}

/// The same program with PT_GNU_EH_FRAME made unknown.
std::vector<std::byte> without_header(std::vector<std::byte> bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (int i = 0; i < header.e_phnum; ++i) {
    auto* at = bytes.data() + header.e_phoff + static_cast<std::size_t>(i) * sizeof(Elf64_Phdr);
    Elf64_Phdr program;
    std::memcpy(&program, at, sizeof(program));
    if (program.p_type == PT_GNU_EH_FRAME) {
      program.p_type = PT_NULL;
      std::memcpy(at, &program, sizeof(program));
    }
  }
  return bytes;
}

TEST(FrameTable, finds_a_function_by_the_sorted_table) {
  EXPECT_EQ(known_function(1), 4);
  FrameTable table(image_of(own_program()));
  const auto found = table.find(known_address() + 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, known_address());
  EXPECT_GT(found->end, found->begin);
  EXPECT_FALSE(found->signal_frame);
}

TEST(FrameTable, finds_the_same_without_the_sorted_table) {
  FrameTable table(image_of(own_program()));
  FrameTable scanned(image_of(without_header(own_program())));
  const auto start = known_address() & ~0xfffULL;
  std::size_t found = 0;
  for (std::uint64_t address = start; address < start + 0x4000; address += 7) {
    const auto a = table.find(address);
    const auto b = scanned.find(address);
    ASSERT_EQ(a.has_value(), b.has_value()) << std::hex << address;
    if (a) {
      ++found;
      EXPECT_EQ(a->begin, b->begin);
      EXPECT_EQ(a->end, b->end);
      EXPECT_EQ(a->program.size(), b->program.size());
    }
  }
  EXPECT_GT(found, 100U);
}

TEST(FrameTable, knows_nothing_of_addresses_outside) {
  FrameTable table(image_of(own_program()));
  EXPECT_FALSE(table.find(0));
  EXPECT_FALSE(table.find(~std::uint64_t{0}));
}

TEST(FrameTable, survives_damaged_files) {
  const auto whole = own_program();
  const std::uint64_t header = image_of(whole)->eh_frame_header()->address;
  std::mt19937 random(42);
  for (int round = 0; round < 24; ++round) {
    auto bytes = round % 2 == 0 ? whole : without_header(whole);
    // Dense damage in the unwind tables, sparse elsewhere.
    const auto image = image_of(bytes);
    const auto piece = image->bytes_at(header);
    const auto from = static_cast<std::size_t>(piece.data() - image->bytes().data());
    for (int i = 0; i < 2000; ++i) {
      bytes[from + random() % (piece.size())] = static_cast<std::byte>(random());
    }
    if (round % 3 == 0) {
      bytes.resize(from + random() % piece.size());
    }
    const auto damaged = image_of(std::move(bytes));
    if (damaged == nullptr) {
      continue;
    }
    FrameTable table(damaged);
    for (int i = 0; i < 200; ++i) {
      (void)table.find(known_address() - 0x8000 + random() % 0x10000);
    }
  }
}

}  // namespace
}  // namespace sp::supervisor
