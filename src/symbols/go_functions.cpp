#include "symbols/go_functions.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "core/bytes.h"
#include "symbols/relocated_words.h"

namespace sp::symbols {
namespace {

constexpr std::uint64_t kWord = 8;

/// Where the table of one version of Go has its parts: internal/abi and debug/gosym of its sources.
struct Layout {
  std::uint64_t names = 0;           // of offsets in the header; 0: names follow the header
  std::uint64_t functions = 0;       // the same, for the table of functions
  bool are_addresses_short = false;  // 32 bits, from the text's begin
};

class GoTable {
 public:
  GoTable(const ElfSections& file, const Section& section)
      : file_(file), section_(section), bytes_(file.bytes(section)) {}

  [[nodiscard]] std::vector<GoFunction> read() const {
    const auto layout = find_layout();
    if (!layout) {
      return {};
    }
    const std::uint64_t count = word(kWord);
    const std::uint64_t names = layout->names == 0 ? 0 : word(layout->names);
    const std::uint64_t table = layout->functions == 0 ? 2 * kWord : word(layout->functions);
    const std::uint64_t text = layout->are_addresses_short ? text_begin() : 0;
    const std::uint64_t size = layout->are_addresses_short ? 4 : kWord;
    if (count > bytes_.size() / (2 * size) || table > bytes_.size()) {
      return {};
    }
    // In the oldest layout offsets count from the header, in others from the table of functions.
    const std::uint64_t base = layout->functions == 0 ? 0 : table;
    std::vector<GoFunction> functions;
    functions.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = table + i * 2 * size;
      const std::uint64_t begin = text + value(at, size);
      const std::uint64_t end = text + value(at + 2 * size, size);
      // Its record begins with its address.
      const auto name = core::read_at<std::uint32_t>(bytes_, base + value(at + size, size) + size);
      const std::string_view text_of = name ? core::text_at(bytes_, names + *name) : "";
      if (begin < end && !text_of.empty()) {
        functions.push_back({begin, end, text_of});
      }
    }
    return functions;
  }

 private:
  [[nodiscard]] std::optional<Layout> find_layout() const {
    const auto magic = core::read_at<std::uint32_t>(bytes_, 0);
    const auto word_size = core::read_at<std::uint8_t>(bytes_, 7);
    if (!magic || word_size != kWord) {
      return std::nullopt;
    }
    switch (*magic) {
      case 0xfffffffbU:  // Go 1.2
        return Layout{0, 0, false};
      case 0xfffffffaU:  // Go 1.16
        return Layout{8 + 2 * kWord, 8 + 6 * kWord, false};
      case 0xfffffff0U:  // Go 1.18
      case 0xfffffff1U:  // Go 1.20
        return Layout{8 + 3 * kWord, 8 + 7 * kWord, true};
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::uint64_t word(std::uint64_t at) const {
    return core::read_at<std::uint64_t>(bytes_, at).value_or(0);
  }
  [[nodiscard]] std::uint64_t value(std::uint64_t at, std::uint64_t size) const {
    return size == 4 ? core::read_at<std::uint32_t>(bytes_, at).value_or(0) : word(at);
  }

  /// Of the runtime's text; in a file that is mapped anywhere a relocation may have it.
  [[nodiscard]] std::uint64_t text_begin() const {
    constexpr std::uint64_t kAt = 8 + 2 * kWord;
    const std::uint64_t address = section_.address + kAt;
    const std::uint64_t begin =
        RelocatedWords(file_, address, address + kWord).value(address, word(kAt));
    const Section* const text = file_.find(".text");
    return begin == 0 && text != nullptr ? text->address : begin;
  }

  const ElfSections& file_;
  const Section& section_;
  std::span<const std::byte> bytes_;
};

/// Leaves the int3 instructions behind it.
void cut_padding(const ElfSections& file, GoFunction& function) {
  const auto section = std::find_if(file.all().begin(), file.all().end(), [&](const Section& one) {
    return (one.flags & SHF_EXECINSTR) != 0 && function.begin >= one.address &&
           function.end <= one.address + one.size;
  });
  if (section == file.all().end()) {
    function.end = function.begin;  // no code
    return;
  }
  const auto code = core::cut(file.bytes(*section), function.begin - section->address,
                              function.end - function.begin);
  std::size_t size = code.size();
  while (file.machine() == EM_X86_64 && size > 1 && code[size - 1] == std::byte{0xcc}) {
    --size;
  }
  function.end = function.begin + size;
}

}  // namespace

std::vector<GoFunction> go_functions(const ElfSections& file) {
  const Section* section = file.find(".gopclntab");
  section = section != nullptr ? section : file.find(".data.rel.ro.gopclntab");
  if (section == nullptr || file.has_symbol_table()) {
    return {};
  }
  std::vector<GoFunction> functions = GoTable(file, *section).read();
  for (GoFunction& function : functions) {
    cut_padding(file, function);
  }
  std::erase_if(functions, [](const GoFunction& one) { return one.begin == one.end; });
  std::sort(functions.begin(), functions.end(),
            [](const GoFunction& a, const GoFunction& b) { return a.begin < b.begin; });
  return functions;
}

}  // namespace sp::symbols
