#include <capstone/capstone.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>

#include "arch/x86_64/decoder.h"
#include "core/elf_image.h"

namespace sp::arch {
namespace {

struct Counts {
  std::size_t compared = 0;
  std::size_t different = 0;
};

bool is_jump_or_call(csh handle, const cs_insn& instruction) {
  return cs_insn_group(handle, &instruction, CS_GRP_JUMP) ||
         cs_insn_group(handle, &instruction, CS_GRP_CALL) ||
         cs_insn_group(handle, &instruction, CS_GRP_RET);
}

/// Decodes code from its beginning with both. Capstone 4 does not know every current instruction;
/// the comparison skips what it cannot decode by our decoder's length.
template <typename Decode>
Counts compare(csh handle, std::span<const std::byte> code, Decode decode) {
  Counts counts;
  const std::unique_ptr<cs_insn, void (*)(cs_insn*)> theirs(
      cs_malloc(handle), [](cs_insn* instruction) { cs_free(instruction, 1); });
  std::size_t at = 0;
  while (at < code.size()) {
    const auto ours = decode(code.subspan(at), core::Address{at});
    if (!ours) {
      break;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data() + at);
    std::size_t left = code.size() - at;
    std::uint64_t address = at;
    if (cs_disasm_iter(handle, &bytes, &left, &address, theirs.get())) {
      ++counts.compared;
      const bool same = theirs->size == ours->length &&
                        (!is_jump_or_call(handle, *theirs) || core::ends_block(ours->flow));
      counts.different += same ? 0 : 1;
    }
    at += ours->length;
  }
  return counts;
}

std::span<const std::byte> code_of(const core::ElfImage& image) {
  for (const core::LoadSegment& segment : image.segments()) {
    if (segment.executable) {
      return image.bytes_at(segment.address).first(segment.file_size);
    }
  }
  return {};
}

TEST(DecoderX86_64, agrees_with_capstone_on_this_program) {
  auto file = core::MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  auto image = core::ElfImage::parse(*file);
  ASSERT_TRUE(image);
  if ((*image)->machine() != EM_X86_64) {
    GTEST_SKIP() << "this program is not x86-64 code";
  }
  csh handle = 0;
  ASSERT_EQ(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  const Counts counts = compare(handle, code_of(**image), x86_64::decode);
  cs_close(&handle);
  EXPECT_GT(counts.compared, 10000U);
  EXPECT_EQ(counts.different, 0U);
}

}  // namespace
}  // namespace sp::arch
