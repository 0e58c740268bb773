#include "commands/coverage/coverage.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands/coverage/coverage_text.h"
#include "commands/run_files/counted_coverage.h"
#include "commands/run_files/coverage_file.h"
#include "commands/run_files/coverage_sources.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/output_file.h"
#include "commands/run_files/pager.h"
#include "core/log.h"
#include "core/progress_line.h"
#include "profiler/coverage_merge.h"
#include "profiler/formats/cobertura.h"
#include "profiler/formats/coverage_tsv.h"
#include "profiler/formats/lcov.h"
#include "profiler/missing_sources.h"
#include "profiler/run_directory.h"

namespace sp::coverage {
namespace {

constexpr int kUsage = 2;
constexpr int kFailure = 125;

int fail(const core::Error& error) {
  core::print_error(error.message());
  return kFailure;
}

int show(const cli::CoverageOptions& options) {
  const auto run = run_files::named_or_newest_run(options.runs.empty() ? "" : options.runs.front());
  if (!run) {
    return fail(run.error());
  }
  std::vector<std::string> notes;
  const auto table = run_files::read_coverage(*run, notes);
  if (!table) {
    return fail(table.error());
  }
  const auto read = run_files::read_sources(*table, run_files::source_maps(options.source_maps),
                                            options.debug_dirs);
  if (!run_files::show([&](std::ostream& out) { out << coverage_text(*table, read.sources); })) {
    return fail({"writing to stdout failed"});
  }
  notes.insert(notes.end(), read.notes.begin(), read.notes.end());
  if (const auto partly = totals_of(*table).watched_partly; partly > 0) {
    notes.push_back(
        fmt::format("{} blocks or functions that were not reached were not watched to the end: "
                    "`kind` in coverage.tsv says until when",
                    partly));
  }
  run_files::print_notes(notes, "the tables");
  return 0;
}

void add_missing_sources(const profiler::SourceCoverage& sources, std::vector<std::string>& notes) {
  if (std::string note = missing_sources_note(sources); !note.empty()) {
    notes.push_back(std::move(note));
  }
}

/// --counts
int write_counts(const cli::CoverageOptions& options) {
  const auto run = run_files::named_or_newest_run(options.runs.empty() ? "" : options.runs.front());
  if (!run) {
    return fail(run.error());
  }
  std::vector<std::string> notes;
  const auto table = run_files::counted_coverage(*run, options.debug_dirs, notes);
  if (!table) {
    return fail(table.error());
  }
  auto read = run_files::read_sources(*table, run_files::source_maps(options.source_maps),
                                      options.debug_dirs);
  notes.insert(notes.end(), read.notes.begin(), read.notes.end());
  leave_out_missing_libraries(read.sources);
  if (read.sources.files.empty()) {
    return fail({fmt::format(
        "no file that {} has counted has debug information, so there are no lines; compile with "
        "-g, or name the debug files' directory with --debug-dir",
        *run)});
  }
  const std::string directory =
      options.output.empty() ? run_files::directory_of(*run) : options.output;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  auto written = run_files::write_output(directory + "/coverage.info", [&](std::ostream& out) {
    profiler::write_lcov(out, read.sources);
  });
  if (written) {
    written = run_files::write_output(directory + "/cobertura.xml", [&](std::ostream& out) {
      profiler::write_cobertura(out, read.sources, {SP_VERSION, std::chrono::system_clock::now()});
    });
  }
  if (!written) {
    return fail(written.error());
  }
  add_missing_sources(read.sources, notes);
  for (const std::string& note : notes) {
    core::print_note(note);
  }
  core::print_note(fmt::format("counts of {} lines: {}/coverage.info, cobertura.xml",
                               read.sources.totals().lines, directory));
  return 0;
}

/// Whether what `run` was recorded into is the directory that the joined runs are to be written to.
bool is_output(const std::string& run, const std::string& output) {
  std::error_code error;
  return std::filesystem::equivalent(run_files::directory_of(run), output, error);
}

int merge(const cli::CoverageOptions& options) {
  for (const std::string& run : options.runs) {
    if (is_output(run, options.output)) {
      core::print_error(fmt::format(
          "-o {} is the directory of {}, whose coverage.tsv would be overwritten; name another one",
          options.output, run));
      return kUsage;
    }
  }
  const core::ProgressLine progress("merging coverage");
  std::vector<profiler::CoverageTable> runs;
  std::vector<std::string> notes;
  for (const std::string& run : options.runs) {
    auto table = run_files::read_coverage(run, notes);
    if (!table) {
      return fail(table.error());
    }
    runs.push_back(std::move(*table));
  }
  const profiler::MergedCoverage merged = profiler::merged(runs);
  const auto read = run_files::read_sources(
      merged.table, run_files::source_maps(options.source_maps), options.debug_dirs);
  const std::size_t slash = options.output.find_last_not_of('/') + 1;
  const std::string path = options.output.substr(0, slash);
  const std::size_t name = path.rfind('/') + 1;
  auto directory = profiler::RunDirectory::create(path.substr(0, name), path.substr(name), true);
  if (!directory) {
    return fail(directory.error());
  }
  const auto write = [&](const char* file, const profiler::RunDirectory::Writer& writer) {
    return directory->write(file, writer);
  };
  auto written = write("coverage.tsv",
                       [&](std::ostream& out) { profiler::write_coverage_tsv(out, merged.table); });
  if (read.sources.files.empty()) {  // those of an earlier merge would not match
    directory->remove("coverage.info");
    directory->remove("cobertura.xml");
  } else if (written) {
    written =
        write("coverage.info", [&](std::ostream& out) { profiler::write_lcov(out, read.sources); });
    if (written) {
      written = write("cobertura.xml", [&](std::ostream& out) {
        profiler::write_cobertura(out, read.sources,
                                  {SP_VERSION, std::chrono::system_clock::now()});
      });
    }
  }
  if (!written) {
    return fail(written.error());
  }
  for (const std::string& file : merged.several_builds) {
    notes.push_back(fmt::format("{}: the runs had several builds of it, which stay apart", file));
  }
  notes.insert(notes.end(), read.notes.begin(), read.notes.end());
  add_missing_sources(read.sources, notes);
  run_files::print_notes(notes, path);
  core::print_note(fmt::format("merged {} runs into {}", options.runs.size(), path));
  return 0;
}

}  // namespace

int run(const cli::CoverageOptions& options) {
  return options.merges ? merge(options) : options.counts ? write_counts(options) : show(options);
}

}  // namespace sp::coverage
