#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "core/bytes.h"
#include "core/elf_image.h"
#include "symbols/elf_sections.h"

namespace sp::analyzer {
namespace {

using core::Address;

struct Symbol {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

std::map<std::string, Symbol> symbols_of(const symbols::ElfSections& sections) {
  std::map<std::string, Symbol> found;
  const symbols::Section* table = sections.find(".symtab");
  if (table == nullptr) {
    return found;
  }
  const auto names = sections.bytes(*sections.at(table->link));
  const auto bytes = sections.bytes(*table);
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    const auto raw = *core::read_at<Elf64_Sym>(bytes, at);
    found[std::string(core::text_at(names, raw.st_name))] = {raw.st_value, raw.st_size};
  }
  return found;
}

bool is_mapped(const core::ControlFlowGraph& map, std::uint64_t address) {
  return std::any_of(map.blocks.begin(), map.blocks.end(), [&](const core::BasicBlock& block) {
    return block.start.value() <= address && address < block.last.next().value();
  });
}

/// The compiler, its optimization, and whether the code is position-independent.
class JumpTables
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {
 protected:
  [[nodiscard]] static std::string path() {
    const auto& [compiler, level, kind] = GetParam();
    return std::string(SP_TARGETS_DIR) + "/switches_" + compiler + "_" + level + "_" + kind;
  }
};

TEST_P(JumpTables, lead_to_every_case) {
  if (!std::filesystem::exists(path())) {
    GTEST_SKIP() << path() << " was not built: no such compiler";
  }
  auto file = core::MappedFile::open(path());
  ASSERT_TRUE(file);
  auto image = core::ElfImage::parse(*file);
  ASSERT_TRUE(image);
  const ReadCode read = [&](Address from, std::span<std::byte> into) {
    const auto bytes = core::cut((*image)->bytes_at(from.value()), 0, into.size());
    std::copy(bytes.begin(), bytes.end(), into.begin());
    return bytes.size();
  };
  const auto symbols = symbols_of(symbols::ElfSections(*image));
  for (const std::string name : {"plain", "offset", "bytes", "wide", "masked"}) {
    ASSERT_TRUE(symbols.contains(name));
    const Symbol& function = symbols.at(name);
    const Address entry{function.begin};
    const auto map = build_control_flow_graph({entry, entry + function.size}, {&entry, 1}, read);
    EXPECT_TRUE(map.unresolved.empty()) << name;
    EXPECT_TRUE(map.unmapped.empty()) << name;
    for (auto label = symbols.lower_bound("case_" + name + "_");
         label != symbols.end() && label->first.starts_with("case_" + name + "_"); ++label) {
      EXPECT_TRUE(is_mapped(map, label->second.begin)) << label->first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfCompilers, JumpTables,
                         ::testing::Combine(::testing::Values("gcc", "clang"),
                                            ::testing::Values("O0", "O1", "O2", "Os"),
                                            ::testing::Values("pie", "no_pie")));

}  // namespace
}  // namespace sp::analyzer
