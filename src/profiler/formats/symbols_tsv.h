#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

namespace sp::profiler {

/// A function of a file, and whether its calls are traced.
struct SymbolRow {
  std::uint64_t id = 0;      // symbols::function_id
  std::string module{};      // path
  std::string build_id{};    // "" if there is none
  std::uint64_t offset = 0;  // ELF virtual address
  std::uint64_t size = 0;    // bytes; 0 if its end is not known
  std::string linkage_name{};
  std::string demangled_name{};  // "module+0x1234" if it has no name
  std::string file{};            // of its first instruction; "" if it is not known
  std::uint32_t line = 0;
  std::optional<std::uint64_t> instructions{};
  std::string place{};  // by what its calls are seen: "breakpoint"; "" if by nothing
  bool is_instrumented = false;
  std::string reason{};
  std::string learned{};  // "learned: .." if --learn has found it too costly; not in the files
  std::optional<std::uint32_t> xray_id{};
  std::optional<double> since{};  // seconds of the run
  std::optional<double> until{};
};

/// symbols.tsv: a header, then the rows in their order.
void write_symbols_tsv(std::ostream& out, std::span<const SymbolRow> rows);

/// The same with another separator, as RFC 4180 has it, but with lines that end in "\n": cells with
/// the separator, quotes or line ends are quoted.
void write_symbols_csv(std::ostream& out, std::span<const SymbolRow> rows, char separator);

}  // namespace sp::profiler
