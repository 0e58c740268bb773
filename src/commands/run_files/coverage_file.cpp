#include "commands/run_files/coverage_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
    const std::uint32_t module = module_of(file);
    if (table_.functions.empty() || table_.functions.back().module != module ||
        table_.functions.back().begin != begin) {
      table_.functions.push_back({module, file.text(function), begin, bytes});
    }
    return static_cast<std::uint32_t>(table_.functions.size() - 1);
  }

  std::uint32_t module_of(const TsvFile& file) {
    if (last_ && file.raw(module_path) == last_->first && file.raw(build_id) == last_->second) {
      return last_number_;
    }
    last_.emplace(file.raw(module_path), file.raw(build_id));
    profiler::CoverageTable::Module module{file.text(module_path), file.text(build_id)};
    const auto [entry, is_new] = modules_.try_emplace(
        {module.path, module.build_id}, static_cast<std::uint32_t>(table_.modules.size()));
    if (is_new) {
      table_.modules.push_back(std::move(module));
    }
    return last_number_ = entry->second;
  }

  std::map<std::pair<std::string, std::string>, std::uint32_t> modules_;
  std::optional<std::pair<std::string, std::string>> last_;  // raw, of the row before
  std::uint32_t last_number_ = 0;
  profiler::CoverageTable table_;
};

std::string path_of(const std::string& run) {
  struct stat status {};
  const bool is_directory = ::stat(run.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return is_directory ? run + "/coverage.tsv" : run;
}

}  // namespace

core::Result<profiler::CoverageTable> read_coverage(const std::string& run,
                                                    std::vector<std::string>& notes) {
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
    notes.push_back(file->damage());
  }
  return reader.take();
}

void KnownCoverage::add(const std::string& run, profiler::CoverageTable table) {
  runs_.push_back({run, std::move(table)});
}

std::vector<core::ReachedRange> KnownCoverage::reached_in(const std::string& identity) const {
  std::vector<core::ReachedRange> ranges;
  for (const Run& run : runs_) {
    for (const profiler::CoverageTable::Row& row : run.table.rows) {
      const std::string& of_row =
          run.table.modules[run.table.functions[row.function].module].build_id;
      if (row.hits > 0 && !identity.empty() && of_row == identity) {
        // Of a function as a whole it is known that its first instruction was executed.
        ranges.push_back({row.offset, row.offset + (row.is_function ? 1 : row.size)});
      }
    }
  }
  return ranges;
}

bool KnownCoverage::has(const Run& run, const std::string& identity) {
  return std::any_of(run.table.modules.begin(), run.table.modules.end(),
                     [&](const auto& module) { return module.build_id == identity; });
}

std::vector<std::string> KnownCoverage::other_builds(const std::string& path,
                                                     const std::string& identity) const {
  std::vector<std::string> texts;
  for (const Run& run : runs_) {
    const bool has_path = std::any_of(run.table.modules.begin(), run.table.modules.end(),
                                      [&](const auto& module) { return module.path == path; });
    if (has_path && !has(run, identity)) {
      texts.push_back(
          fmt::format("{} has another build of {}: nothing of this one is known", run.name, path));
    }
  }
  return texts;
}

std::vector<std::string> KnownCoverage::of_other_files(
    const std::set<std::pair<std::string, std::string>>& files) const {
  std::vector<std::string> texts;
  for (const Run& run : runs_) {
    const bool is_of_one =
        std::any_of(run.table.modules.begin(), run.table.modules.end(), [&](const auto& module) {
          return std::any_of(files.begin(), files.end(), [&](const auto& file) {
            return file.first == module.path || file.second == module.build_id;
          });
        });
    if (!is_of_one && !files.empty()) {
      texts.push_back(fmt::format(
          "{} knows none of this run's files; it is of {}", run.name,
          run.table.modules.empty() ? "none" : "a build of " + run.table.modules[0].path));
    }
  }
  return texts;
}

}  // namespace sp::run_files
