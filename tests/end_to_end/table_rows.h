#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/// Tables of superprofiler: TSV with a header.
namespace sp::end_to_end {

/// A row by the names of its columns.
using TableRow = std::map<std::string, std::string>;

inline std::vector<std::string> table_cells(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t tab = line.find('\t', at);
    cells.push_back(line.substr(at, tab == std::string::npos ? tab : tab - at));
    at = tab == std::string::npos ? tab : tab + 1;
  }
  return cells;
}

inline std::vector<TableRow> table_rows(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const auto columns = table_cells(line);
  std::vector<TableRow> rows;
  while (std::getline(in, line)) {
    const auto cells = table_cells(line);
    EXPECT_EQ(cells.size(), columns.size()) << line;
    TableRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), columns.size()); ++i) {
      row[columns[i]] = cells[i];
    }
  }
  return rows;
}

}  // namespace sp::end_to_end
