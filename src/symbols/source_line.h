#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sp::symbols {

/// A line of source, with the file's path on the machine that compiled it.
struct SourceLine {
  std::string file;
  std::uint32_t line = 0;

  bool operator==(const SourceLine&) const = default;
};

/// A row of a line table: instructions in [begin, end) are of that line, and a statement begins at
/// `begin`, unless it continues the row in front. Empty where the compiler left no instruction of
/// it there.
struct LineRange {
  std::uint64_t begin = 0;  // ELF virtual addresses
  std::uint64_t end = 0;
  SourceLine source;
  bool is_closing = false;  // nothing but the return of the function (mark_closing_brace())
  bool continues = false;   // the row in front is of the same line, and no statement begins here
  std::uint32_t nops = 0;   // bytes of them at the begin, with other code behind (mark_nops())
};

/// The lines of a function.
struct FunctionLines {
  std::uint32_t declared = 0;  // the line with its name, in the file of its first row; 0: unknown
  bool is_artificial = false;  // the compiler's own, such as an implicit constructor
  /// Its last line is that of the brace behind its return statements (gcc without optimization).
  bool ends_in_brace = false;
  std::vector<LineRange> rows{};  // by address; none without debug information
};

}  // namespace sp::symbols
