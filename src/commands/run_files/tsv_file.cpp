#include "commands/run_files/tsv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace sp::run_files {
core::Result<TsvFile> TsvFile::open(const std::string& path,
                                    std::initializer_list<std::string_view> columns) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return core::fail_errno("opening " + path);
  }
  TsvFile tsv(path, std::move(file));
  std::getline(tsv.file_, tsv.line_);
  std::string_view rest = tsv.line_;
  std::size_t found = 0;
  while (!rest.empty()) {
    const std::string_view name = cut(rest, '\t');
    const auto* column = std::find(columns.begin(), columns.end(), name);
    const bool is_wanted = column != columns.end();
    tsv.column_of_place_.push_back(
        is_wanted ? std::optional(static_cast<std::size_t>(column - columns.begin()))
                  : std::nullopt);
    found += is_wanted ? 1 : 0;
  }
  if (found != columns.size()) {
    return core::fail(path +
                      " is not what superprofiler has written: its first line lacks columns");
  }
  tsv.cells_.resize(columns.size());
  return tsv;
}

bool TsvFile::next() {
  if (!damage_.empty() || !std::getline(file_, line_)) {
    return false;
  }
  ++line_number_;
  split();
  // A last line without its end was cut.
  if (file_.eof() || places_ != column_of_place_.size()) {
    reject();
    return false;
  }
  return true;
}

void TsvFile::split() {
  std::string_view rest = line_;
  places_ = 0;
  for (bool more = true; more; ++places_) {
    more = rest.find('\t') != std::string_view::npos;
    const std::string_view cell = cut(rest, '\t');
    if (places_ < column_of_place_.size() && column_of_place_[places_]) {
      cells_[*column_of_place_[places_]] = cell;
    }
  }
}

std::string TsvFile::text(std::size_t column) const { return unescaped(cells_[column]); }

std::optional<std::uint64_t> TsvFile::number(std::size_t column) const {
  return parse_number(cells_[column]);
}

void TsvFile::reject() { damage_ = fmt::format("{} is damaged in line {}", path_, line_number_); }

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  text.remove_prefix(hex ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string unescaped(std::string_view cell) {
  std::string text;
  if (cell.find('\\') == std::string_view::npos) {
    return text.assign(cell);
  }
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\' || i + 1 == cell.size()) {
      text += cell[i];
      continue;
    }
    const char c = cell[++i];
    text += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return text;
}

std::string_view cut(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

}  // namespace sp::run_files
