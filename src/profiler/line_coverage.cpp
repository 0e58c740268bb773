#include "profiler/line_coverage.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "symbols/cold_part.h"

namespace sp::profiler {
namespace {

using Row = CoverageTable::Row;
using symbols::LineRange;

/// The rows of one function, by offset.
using Rows = std::span<const Row>;

/// Of the block in which the line's statement begins, or would, of a line without instructions. One
/// that begins later in the row is reached from elsewhere as well: gcc leaves the first loads of an
/// `else` in the row of what is before it. But not one behind a NOP, which stands for a statement
/// without code. Where no block is known at the row's beginning, the
/// first one behind it counts.
std::uint64_t hits_at_begin(const LineRange& line, Rows rows) {
  const std::uint64_t end = std::max(line.end, line.begin + 1);
  const auto first = std::partition_point(rows.begin(), rows.end(), [&](const Row& row) {
    return row.offset + row.size <= line.begin;
  });
  std::uint64_t hits = 0;
  for (auto row = first; row != rows.end() && row->offset < end; ++row) {
    if (row != first && row->offset > line.begin + line.nops) {
      break;
    }
    hits = std::max(hits, row->hits);
  }
  return hits;
}

/// The brace that opens a function below its name, to which compilers give what a function does
/// before its first statement.
bool is_opening(const symbols::FunctionLines& lines) {
  const LineRange& first = lines.rows.front();
  return lines.declared != 0 && first.source.line > lines.declared &&
         std::none_of(lines.rows.begin() + 1, lines.rows.end(), [&](const LineRange& other) {
           return other.source.file == first.source.file &&
                  (other.source.line < first.source.line ||
                   (other.source.line == first.source.line && !other.continues));
         });
}

/// Which rows of a function are led to in one way alone.
class WaysIn {
 public:
  explicit WaysIn(Rows rows) : rows_(rows), ways_(rows.size()) {
    bool continues = true;  // the entry: calls come there
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      ways_[i] += continues ? 1 : 0;
      if (const auto to = row.leads_to ? index_of(*row.leads_to) : std::nullopt) {
        ++ways_[*to];
      }
      are_known_ = are_known_ && row.flow != core::Flow::indirect_jump;
      const bool is_followed = i + 1 < rows.size() && rows[i + 1].offset == row.offset + row.size;
      continues = is_followed && row.flow != core::Flow::jump && row.flow != core::Flow::ret &&
                  row.flow != core::Flow::indirect_jump && row.flow != core::Flow::stop;
      // What nothing is known to lead to may be a landing pad.
    }
  }

  /// The row that starts there, if only one way leads to it.
  [[nodiscard]] const Row* only_way_to(std::uint64_t offset) const {
    const auto index = index_of(offset);
    return are_known_ && index && *index > 0 && ways_[*index] == 1 ? &rows_[*index] : nullptr;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(std::uint64_t offset) const {
    const auto found = std::partition_point(rows_.begin(), rows_.end(),
                                            [&](const Row& row) { return row.offset < offset; });
    return found == rows_.end() || found->offset != offset
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - rows_.begin()));
  }

  Rows rows_;
  std::vector<int> ways_;
  bool are_known_ = true;
};

/// Not one of the user's own, wherever these are built.
bool is_system_library(std::string_view path) {
  const std::size_t name = path.rfind('/') + 1;
  return (path.starts_with("/lib") || path.starts_with("/usr/lib")) &&
         path.find(".so", name) != std::string_view::npos;
}

/// Does the work of source_coverage().
class Joining {
 public:
  Joining(const CoverageTable& table, const LinesOf& lines_of)
      : table_(table), lines_of_(lines_of), has_blocks_(!is_of_functions(table)) {}

  SourceCoverage run() {
    for (auto row = table_.rows.begin(); row != table_.rows.end();) {
      const auto behind = std::find_if(row, table_.rows.end(), [&](const Row& other) {
        return other.function != row->function;
      });
      add(table_.functions[row->function], Rows(row, behind));
      row = behind;
    }
    SourceCoverage result;
    for (auto& [path, file] : files_) {
      result.files.push_back(finished(path, std::move(file)));
    }
    result.functions_without_lines = without_lines_;
    result.functions_of_one_line = of_one_line_;
    return result;
  }

 private:
  struct File {
    std::map<std::uint32_t, std::uint64_t> lines;
    std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> functions;
    /// By line, and the branch's number in it: what continued and what was taken.
    using Hits = std::optional<std::uint64_t>;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<Hits, Hits>> branches;
    bool is_of_libraries = true;
  };

  void add(const CoverageTable::Function& function, Rows rows) {
    const symbols::FunctionLines found =
        lines_of_(function.module, function.begin, function.begin + function.size);
    const std::vector<LineRange>& lines = found.rows;
    if (lines.empty()) {
      ++without_lines_;
      return;
    }
    if (found.is_artificial) {
      return;  // nobody has written it
    }
    is_in_library_ = is_system_library(table_.modules[function.module].path);
    const symbols::SourceLine& first = lines.front().source;
    add_function(function, rows, {first.file, found.declared == 0 ? first.line : found.declared});
    const bool is_only_entered = rows.front().is_function && rows.front().hits > 0;
    if (has_blocks_ && !is_only_entered) {
      add_lines(found, rows);
      add_branches(rows, lines);
    } else {
      ++of_one_line_;
    }
  }

  File& file_of(const symbols::SourceLine& source) {
    File& file = files_[source.file];
    file.is_of_libraries = file.is_of_libraries && is_in_library_;
    return file;
  }

  void add_lines(const symbols::FunctionLines& found, Rows rows) {
    const std::vector<LineRange>& lines = found.rows;
    const bool skips_first = is_opening(found);
    for (const LineRange& line : lines) {
      if ((skips_first && line.source == lines.front().source) || line.is_closing) {
        continue;
      }
      std::uint64_t& hits = file_of(line.source).lines[line.source.line];
      hits = std::max(hits, hits_at_begin(line, rows));
    }
  }

  /// A compiler's cold part of a function is none of its own.
  void add_function(const CoverageTable::Function& function, Rows rows,
                    const symbols::SourceLine& declared) {
    if (symbols::is_cold_part(function.name) ||
        function.name.find("[clone .cold") != std::string::npos) {
      return;
    }
    const bool begins = rows.front().offset == function.begin;
    std::uint64_t hits = begins ? rows.front().hits : 0;
    if (hits == 0) {
      hits = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.hits > 0; });
    }
    File& file = file_of(declared);
    std::uint64_t& sum = file.functions[{declared.line, function.name}];
    sum = std::max(sum, hits);
    std::uint64_t& of_line = file.lines[declared.line];
    of_line = std::max(of_line, hits);
  }

  void add_branches(Rows rows, const std::vector<LineRange>& lines) {
    const WaysIn ways(rows);
    std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> in_line;
    for (const Row& row : rows) {
      const LineRange* const line = line_at(lines, row.offset + row.size - 1);
      if (row.flow != core::Flow::branch || !(row.leads_to || row.ways) || line == nullptr) {
        continue;
      }
      const std::uint32_t number = in_line[{line->source.file, line->source.line}]++;
      if (row.ways) {
        auto& [on, off] = file_of(line->source).branches[{line->source.line, number}];
        on = std::max(on.value_or(0), row.ways->continued);
        off = std::max(off.value_or(0), row.ways->taken);
        continue;
      }
      const Row* const continued = ways.only_way_to(row.offset + row.size);
      const Row* const taken = ways.only_way_to(*row.leads_to);
      if (continued == nullptr || taken == nullptr || continued == taken) {
        continue;
      }
      auto& [on, off] = file_of(line->source).branches[{line->source.line, number}];
      if (row.hits > 0) {
        on = std::max(on.value_or(0), continued->hits);
        off = std::max(off.value_or(0), taken->hits);
      }
    }
  }

  static const LineRange* line_at(const std::vector<LineRange>& lines, std::uint64_t address) {
    const auto above = std::partition_point(
        lines.begin(), lines.end(), [&](const LineRange& line) { return line.begin <= address; });
    return above == lines.begin() ? nullptr : &*std::prev(above);
  }

  static SourceCoverage::File finished(const std::string& path, File file) {
    SourceCoverage::File done{path, std::move(file.lines), {}, {}, file.is_of_libraries};
    for (const auto& [key, hits] : file.functions) {
      done.functions.push_back({key.first, key.second, hits});
    }
    for (const auto& [key, ways] : file.branches) {
      if (!done.lines.contains(key.first)) {
        continue;
      }
      done.branches.push_back({key.first, key.second, 0, ways.first});
      done.branches.push_back({key.first, key.second, 1, ways.second});
    }
    return done;
  }

  const CoverageTable& table_;
  const LinesOf& lines_of_;
  const bool has_blocks_;
  bool is_in_library_ = false;  // the function that is added
  std::map<std::string, File> files_;
  std::uint64_t without_lines_ = 0;
  std::uint64_t of_one_line_ = 0;
};

}  // namespace

SourceCoverage source_coverage(const CoverageTable& table, const LinesOf& lines_of) {
  return Joining(table, lines_of).run();
}

}  // namespace sp::profiler
