#include "profiler/formats/symbols_tsv.h"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string_view>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

constexpr auto kColumns = std::to_array<std::string_view>(
    {"id", "module", "build_id", "offset", "size", "linkage_name", "demangled_name", "file", "line",
     "instructions", "place", "instrumented", "reason", "xray_id", "since", "until"});
using SymbolCells = std::array<std::string, kColumns.size()>;

/// As text; "" for what is not known.
template <typename Number>
std::string number_cell(const std::optional<Number>& number) {
  return number ? fmt::format("{}", *number) : "";
}

std::string seconds_cell(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.3f}", *seconds) : "";
}

template <typename Escape>
SymbolCells cells_of(const SymbolRow& row, const Escape& escape) {
  return {fmt::format("0x{:016x}", row.id),
          escape(row.module),
          escape(row.build_id),
          fmt::format("{:#x}", row.offset),
          row.size == 0 ? "" : fmt::format("{}", row.size),
          escape(row.linkage_name),
          escape(row.demangled_name),
          escape(row.file),
          row.line == 0 ? "" : fmt::format("{}", row.line),
          number_cell(row.instructions),
          escape(row.place),
          row.is_instrumented ? "yes" : "no",
          escape(row.reason),
          number_cell(row.xray_id),
          seconds_cell(row.since),
          seconds_cell(row.until)};
}

template <typename Cells>
void write_line(std::ostream& out, const Cells& cells, char separator) {
  bool is_first = true;
  for (const auto& cell : cells) {
    if (!is_first) {
      out << separator;
    }
    is_first = false;
    out << cell;
  }
  out << '\n';
}

template <typename Escape>
void write_symbols(std::ostream& out, std::span<const SymbolRow> rows, char separator,
                   const Escape& escape) {
  write_line(out, kColumns, separator);
  for (const SymbolRow& row : rows) {
    write_line(out, cells_of(row, escape), separator);
  }
}

}  // namespace

void write_symbols_tsv(std::ostream& out, std::span<const SymbolRow> rows) {
  write_symbols(out, rows, '\t', tsv_cell);
}

void write_symbols_csv(std::ostream& out, std::span<const SymbolRow> rows, char separator) {
  write_symbols(out, rows, separator,
                [separator](std::string_view text) { return csv_cell(text, separator); });
}

}  // namespace sp::profiler
