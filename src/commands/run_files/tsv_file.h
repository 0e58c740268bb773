#pragma once

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace sp::run_files {

/// Reads a TSV file of a run row by row.
class TsvFile {
 public:
  /// Errors: the file cannot be opened, or it lacks one of `columns`, which are found by their
  /// names: a later version may have more.
  [[nodiscard]] static core::Result<TsvFile> open(const std::string& path,
                                                  std::initializer_list<std::string_view> columns);

  /// False at the end, and where the file is damaged.
  [[nodiscard]] bool next();
  /// Cells of the row; columns are numbered in the order given to open().
  [[nodiscard]] std::string_view raw(std::size_t column) const { return cells_[column]; }
  [[nodiscard]] std::string text(std::size_t column) const;
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t column) const;
  /// Declares the current row damaged: next() returns false from now on.
  void reject();

  /// "PATH is damaged in line 7"; "" if it is not.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  TsvFile(std::string path, std::ifstream file) : path_(std::move(path)), file_(std::move(file)) {}
  void split();

  std::string path_;
  std::ifstream file_;
  std::vector<std::optional<std::size_t>> column_of_place_;
  std::string line_;
  std::vector<std::string_view> cells_;
  std::size_t line_number_ = 1;
  std::size_t places_ = 0;  // in the current row
  std::string damage_;
};

/// Decimal, or hexadecimal after 0x.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

/// The text of a cell, in which tabs, ends of lines and backslashes are escaped.
[[nodiscard]] std::string unescaped(std::string_view cell);

/// Removes the text up to and including `end` from the front and returns it without `end`.
std::string_view cut(std::string_view& text, char end);

}  // namespace sp::run_files
