#include "profiler/formats/drcov.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint16_t>::max();

void put(std::ostream& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.put(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

/// Blocks of the format have 16 bits for their size, and modules 16 for their number.
template <typename Visit>
void for_each_piece(const CoverageTable& table, std::span<const ImageRange> images,
                    const Visit& visit) {
  for (const CoverageTable::Row& row : table.rows) {
    const std::uint32_t module = table.functions[row.function].module;
    const ImageRange& image = images[module];
    const std::uint64_t base = image.begin;
    if (row.hits == 0 || module > kLargest || row.offset < base || row.offset >= image.end ||
        row.size > image.end - row.offset ||
        row.offset + row.size - base > std::numeric_limits<std::uint32_t>::max()) {
      continue;
    }
    // Of a function as a whole only its entry was seen.
    const std::uint64_t size = row.is_function ? 1 : row.size;
    for (std::uint64_t done = 0; done < size; done += kLargest) {
      visit(row.offset - base + done, std::min(size - done, kLargest), module);
    }
  }
}

}  // namespace

std::uint64_t write_drcov(std::ostream& out, const CoverageTable& table,
                          std::span<const ImageRange> images) {
  out << "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov-64\n"
      << fmt::format("Module Table: version 2, count {}\n", table.modules.size())
      << "Columns: id, base, end, entry, path\n";
  for (std::size_t i = 0; i < table.modules.size(); ++i) {
    out << fmt::format("{:3}, {:#018x}, {:#018x}, {:#018x}, {}\n", i, images[i].begin,
                       images[i].end, 0, folded_blanks(table.modules[i].path));
  }
  std::uint64_t blocks = 0;
  for_each_piece(table, images, [&](auto, auto, auto) { ++blocks; });
  out << fmt::format("BB Table: {} bbs\n", blocks);
  for_each_piece(table, images, [&](std::uint64_t start, std::uint64_t size, std::uint32_t module) {
    put(out, start, 4);
    put(out, size, 2);
    put(out, module, 2);
  });
  return blocks;
}

}  // namespace sp::profiler
