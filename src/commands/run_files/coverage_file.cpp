#include "commands/run_files/coverage_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <tuple>
#include <utility>

#include "commands/run_files/tsv_file.h"
#include "core/progress_line.h"
#include "profiler/formats/coverage_tsv.h"

namespace sp::run_files {
namespace {

enum Column : std::size_t {
  module_path,
  build_id,
  offset,
  size,
  function,
  function_offset,
  function_size,
  covered,
  kind,
  first_us,
  source,
  ends,
  leads_to,
};

/// Builds a table of the rows of a file.
class TableReader {
 public:
  /// False where the row makes no sense.
  bool add(const TsvFile& file) {
    const auto begin = file.number(offset);
    const auto bytes = file.number(size);
    const auto from_function = file.number(function_offset);
    const auto of_function = file.number(function_size);
    const auto reached = file.number(covered);
    const bool is_function = file.raw(ends) == profiler::kFunction;
    const auto flow =
        is_function ? std::optional(core::Flow::next) : profiler::flow_of(file.raw(ends));
    constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
    if (!begin || !bytes || !from_function || !of_function || !reached || !flow ||
        *from_function > *begin || *begin > kMost || *bytes > kMost || *of_function > kMost) {
      return false;
    }
    profiler::CoverageTable::Row& row = table_.rows.emplace_back();
    row.function = function_of(file, *begin - *from_function, *of_function);
    row.offset = *begin;
    row.size = *bytes;
    row.hits = *reached;
    row.kind = file.text(kind);
    row.first_us = file.number(first_us);
    row.source = file.text(source);
    row.is_function = is_function;
    row.flow = *flow;
    row.leads_to = file.number(leads_to);
    return true;
  }
  profiler::CoverageTable take() { return std::move(table_); }

 private:
  std::uint32_t function_of(const TsvFile& file, std::uint64_t begin, std::uint64_t bytes) {
    const std::uint32_t module = module_of({file.text(module_path), file.text(build_id)});
    if (table_.functions.empty() || table_.functions.back().module != module ||
        table_.functions.back().begin != begin) {
      table_.functions.push_back({module, file.text(function), begin, bytes});
    }
    return static_cast<std::uint32_t>(table_.functions.size() - 1);
  }

  std::uint32_t module_of(profiler::CoverageTable::Module module) {
    const auto [entry, is_new] = modules_.try_emplace(
        {module.path, module.build_id}, static_cast<std::uint32_t>(table_.modules.size()));
    if (is_new) {
      table_.modules.push_back(std::move(module));
    }
    return entry->second;
  }

  std::map<std::pair<std::string, std::string>, std::uint32_t> modules_;
  profiler::CoverageTable table_;
};

std::string path_of(const std::string& run) {
  struct stat status {};
  const bool is_directory = ::stat(run.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return is_directory ? run + "/coverage.tsv" : run;
}

}  // namespace

core::Result<profiler::CoverageTable> read_coverage(const std::string& run) {
  const std::string path = path_of(run);
  const core::ProgressLine progress("reading " + path);
  auto file = TsvFile::open(
      path, {"module", "build_id", "offset", "size", "function", "function_offset", "function_size",
             "covered", "kind", "first_us", "source", "ends", "leads_to"});
  if (!file) {
    return core::fail(
        fmt::format("{}; give the directory of a run with --coverage, or its coverage.tsv",
                    file.error().message()));
  }
  TableReader reader;
  while (file->next()) {
    if (!reader.add(*file)) {
      file->reject();
    }
  }
  if (!file->damage().empty()) {
    return core::fail(file->damage());
  }
  return reader.take();
}

void KnownCoverage::add(const profiler::CoverageTable& table) {
  for (const profiler::CoverageTable::Row& row : table.rows) {
    if (row.hits > 0) {
      const auto& module = table.modules[table.functions[row.function].module];
      // Of a function as a whole it is known that its first instruction was executed.
      const std::uint64_t size = row.is_function ? 1 : row.size;
      by_file_[module.build_id].push_back({row.offset, row.offset + size});
    }
  }
}

std::vector<core::ReachedRange> KnownCoverage::reached_in(const std::string& identity) const {
  const auto found = by_file_.find(identity);
  return found == by_file_.end() || identity.empty() ? std::vector<core::ReachedRange>{}
                                                     : found->second;
}

}  // namespace sp::run_files
