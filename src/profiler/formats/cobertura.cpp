#include "profiler/formats/cobertura.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

using File = SourceCoverage::File;
using Totals = SourceCoverage::Totals;

std::string rate(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "1"
                    : fmt::format("{:.4f}", static_cast<double>(part) / static_cast<double>(whole));
}

std::string rates(const Totals& totals) {
  return fmt::format("line-rate=\"{}\" branch-rate=\"{}\" complexity=\"0\"",
                     rate(totals.lines_hit, totals.lines),
                     rate(totals.branches_hit, totals.branches));
}

Totals sum_of(const std::vector<const File*>& files) {
  Totals sum;
  for (const File* file : files) {
    sum += SourceCoverage::totals_of(*file);
  }
  return sum;
}

void write_line(std::ostream& out, const File& file, std::uint32_t line, std::uint64_t hits) {
  const auto [first, behind] = std::equal_range(
      file.branches.begin(), file.branches.end(), SourceCoverage::Branch{.line = line, .hits = {}},
      [](const auto& a, const auto& b) { return a.line < b.line; });
  out << fmt::format("<line number=\"{}\" hits=\"{}\"", line, hits);
  if (first == behind) {
    out << " branch=\"false\"/>";
    return;
  }
  const auto ways = behind - first;
  const auto gone =
      std::count_if(first, behind, [](const auto& branch) { return branch.hits.value_or(0) > 0; });
  out << fmt::format(" branch=\"true\" condition-coverage=\"{}% ({}/{})\"/>", 100 * gone / ways,
                     gone, ways);
}

/// The format gives a method its lines; functions tell theirs by where the next one begins.
void write_methods(std::ostream& out, const File& file) {
  out << "<methods>";
  for (std::size_t i = 0; i < file.functions.size(); ++i) {
    const SourceCoverage::Function& function = file.functions[i];
    const auto next =
        std::find_if(file.functions.begin() + static_cast<std::ptrdiff_t>(i), file.functions.end(),
                     [&](const auto& other) { return other.line > function.line; });
    const auto begin = file.lines.lower_bound(function.line);
    const auto end =
        next == file.functions.end() ? file.lines.end() : file.lines.lower_bound(next->line);
    Totals totals;
    for (auto line = begin; line != end; ++line) {
      ++totals.lines;
      totals.lines_hit += function.hits > 0 && line->second > 0 ? 1 : 0;
    }
    out << fmt::format("<method name=\"{}\" signature=\"\" {}><lines>", xml_text(function.name),
                       rates(totals));
    for (auto line = begin; line != end; ++line) {
      write_line(out, file, line->first, function.hits > 0 ? line->second : 0);
    }
    out << "</lines></method>\n";
  }
  out << "</methods>";
}

void write_class(std::ostream& out, const File& file) {
  out << fmt::format("<class name=\"{0}\" filename=\"{1}\" {2}>", xml_text(base_name(file.path)),
                     xml_text(file.path), rates(SourceCoverage::totals_of(file)));
  write_methods(out, file);
  out << "<lines>";
  for (const auto& [line, hits] : file.lines) {
    write_line(out, file, line, hits);
  }
  out << "</lines></class>\n";
}

std::string directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(
      slash == std::string_view::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)));
}

}  // namespace

void write_cobertura(std::ostream& out, const SourceCoverage& coverage,
                     const CoberturaHeading& heading) {
  const Totals totals = coverage.totals();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(heading.time.time_since_epoch());
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n";
  out << fmt::format(
      "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" "
      "branches-valid=\"{}\" version=\"superprofiler {}\" timestamp=\"{}\">\n"
      "<sources><source>/</source></sources>\n<packages>\n",
      rates(totals), totals.lines_hit, totals.lines, totals.branches_hit, totals.branches,
      xml_text(heading.version), milliseconds.count());
  std::map<std::string, std::vector<const File*>> packages;
  for (const File& file : coverage.files) {
    packages[directory_of(file.path)].push_back(&file);
  }
  for (const auto& [directory, files] : packages) {
    out << fmt::format("<package name=\"{}\" {}><classes>\n", xml_text(directory),
                       rates(sum_of(files)));
    for (const File* file : files) {
      write_class(out, *file);
    }
    out << "</classes></package>\n";
  }
  out << "</packages></coverage>\n";
}

}  // namespace sp::profiler
