#include "commands/convert/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands/convert/formats.h"
#include "commands/convert/spoor_convert.h"
#include "commands/convert/trace_convert.h"
#include "commands/run_files/coverage_file.h"
#include "commands/run_files/coverage_sources.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/output_file.h"
#include "commands/run_files/recorded_run.h"
#include "commands/run_files/trace_file.h"
#include "core/log.h"
#include "core/progress_line.h"
#include "profiler/describe.h"
#include "profiler/missing_sources.h"
#include "profiler/text.h"

namespace sp::convert {
namespace {

using core::Result;

constexpr int kUsage = 2;
constexpr int kFailure = 125;

/// The code of the module that the format is of.
Result<void> read_code_file(Input& input, const Format& format, const std::string& module) {
  if (!input.code) {
    return core::fail(
        fmt::format("the run has counted nothing, so nothing for {}; record it with "
                    "--single",
                    format.name));
  }
  auto file = open_code_file(input.run, *input.code, module);
  if (!file) {
    return tl::unexpected(file.error());
  }
  input.file = std::move(*file);
  return format.read_file(input);
}

/// Opens the recording. Of a run that has not finished it has more than the last snapshot.
Result<void> read_recording(Input& input, const Format& format, const std::string& directory) {
  auto recording = open_recording(format, input.run, directory);
  if (!recording) {
    return tl::unexpected(recording.error());
  }
  input.recording.emplace(std::move(*recording));
  if (!input.recording->reader.header().finished) {
    const std::uint64_t ns_per_sample = input.run.ns_per_sample();
    run_files::bring_up_to_date(input.run, input.recording->reader);
    input.run.cpu_ns = ns_per_sample * input.run.samples;
  }
  return {};
}

core::Error not_there(const Format& format, const std::string& directory, const std::string& file) {
  return {fmt::format(
      "nothing for {} in {}: {} is not there as it was recorded; put that build there, or "
      "record again",
      format.name, directory, file)};
}

Result<void> read_lines(Input& input, const Format& format, const std::string& directory,
                        const cli::ConvertOptions& options) {
  auto read = run_files::read_sources(*input.coverage, run_files::source_maps(options.source_maps),
                                      options.debug_dirs);
  input.sources = std::move(read.sources);
  input.notes.insert(input.notes.end(), read.notes.begin(), read.notes.end());
  if (!input.sources.files.empty()) {
    std::string missing = format.name == "lcov" ? missing_sources_note(input.sources) : "";
    if (!missing.empty()) {
      input.notes.push_back(std::move(missing));
    }
    return {};
  }
  if (!read.missing.empty()) {
    return tl::unexpected(not_there(format, directory, read.missing.front()));
  }
  return core::fail(
      fmt::format("nothing for {} in {}: no file that was covered has debug information; compile "
                  "with -g, or name the debug files' directory with --debug-dir",
                  format.name, directory));
}

/// The images of which blocks are given: those of missing files are left out.
Result<void> read_blocks(Input& input, const Format& format, const std::string& directory) {
  input.images = run_files::read_images(*input.coverage);
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < input.images.size(); ++i) {
    if (input.images[i].end == 0) {
      missing.push_back(input.coverage->modules[i].path);
    }
  }
  if (missing.size() == input.images.size()) {
    return tl::unexpected(not_there(format, directory, missing.front()));
  }
  for (const std::string& file : missing) {
    input.notes.push_back(
        fmt::format("{} is not there as it was recorded: its blocks are left out", file));
  }
  return {};
}

/// Takes coverage.tsv alone: what `coverage merge` has written is no run.
Result<Input> read_coverage(const std::string& directory, const Format& format,
                            const cli::ConvertOptions& options) {
  const core::ProgressLine progress("reading " + directory);
  Input input{};
  auto table = run_files::read_coverage(directory, input.notes);
  if (!table) {
    return tl::unexpected(table.error());
  }
  if (table->rows.empty()) {
    return core::fail(input.notes.empty()
                          ? fmt::format("nothing for {} in {}: no code was covered; see "
                                        "--only-instrument-execs of superprofiler",
                                        format.name, directory)
                          : input.notes.front());
  }
  input.coverage = std::move(*table);
  if (const auto run = run_files::read_run(directory)) {
    input.run.name = run->name;
  } else {
    std::error_code error;
    const auto path = std::filesystem::weakly_canonical(run_files::directory_of(directory), error);
    input.run.name = path.filename().string();
  }
  const auto read = format.has_lines ? read_lines(input, format, directory, options)
                                     : read_blocks(input, format, directory);
  return read ? Result<Input>(std::move(input)) : tl::unexpected(read.error());
}

Result<Input> read_input(const std::string& directory, const Format& format,
                         const cli::ConvertOptions& options) {
  const core::ProgressLine progress("reading " + directory);
  auto run = run_files::read_run(directory);
  if (!run) {
    return tl::unexpected(run.error());
  }
  if (const auto enough = check_content(format, *run, directory); !enough) {
    return tl::unexpected(enough.error());
  }
  Input input{std::move(*run), nullptr, std::nullopt, std::nullopt, {}, std::nullopt, {},
              std::nullopt,    {}};
  if (format.needs_recording) {
    if (const auto read = read_recording(input, format, directory); !read) {
      return tl::unexpected(read.error());
    }
  }
  auto stacks = run_files::read_stacks(directory, input.notes);
  if (!stacks) {
    return tl::unexpected(stacks.error());
  }
  input.stacks = std::move(*stacks);
  if (format.has_counts && !input.run.counts_kind.empty()) {
    auto code = run_files::read_code(directory, input.notes);
    if (!code) {
      return tl::unexpected(code.error());
    }
    if (!code->blocks.empty()) {
      input.code = std::move(*code);
    }
  }
  if (format.read_file != nullptr) {
    if (const auto read = read_code_file(input, format, options.module); !read) {
      return tl::unexpected(read.error());
    }
  }
  return input;
}

void note_recording(Input& input) {
  profiler::RecordingReader& reader = input.recording->reader;
  if (const std::uint64_t stride = reader.samples().stride; stride > 1) {
    input.notes.push_back(
        fmt::format("one of {} samples was recorded with its time: the file has these",
                    profiler::grouped(stride)));
  }
  if (!reader.damage().empty()) {
    input.notes.push_back(reader.damage());
  }
}

int fail(const core::Error& error) {
  core::print_error(error.message());
  return kFailure;
}

/// Several words and --symbols are for Spoor's files.
Result<void> check_single_run(const cli::ConvertOptions& options) {
  if (!options.more.empty()) {
    return core::fail(fmt::format(
        "convert takes one run, or files of Spoor's (.spoor_trace), and '{}' is none; give one: "
        "superprofiler convert output/NAME -f FORMAT",
        options.run));
  }
  if (!options.symbols.empty()) {
    return core::fail(fmt::format(
        "--symbols is for Spoor's files, and there are none in {}; leave it out", options.run));
  }
  return {};
}

/// The run has no trace, or the format does not write it: is that what was asked for?
Result<void> check_without_trace(const cli::ConvertOptions& options, const Format& format,
                                 const std::string& run, const std::string& trace) {
  if (trace == run) {
    return core::fail(fmt::format(
        "{} is a trace, so nothing for {}; its formats: perfetto, chrome, speedscope, xray", run,
        format.name));
  }
  if (trace.empty() && (format.needs_trace || options.cuts.are_given())) {
    return core::fail(fmt::format(
        "{} a trace: there is none in {} (no trace.sp); record it with "
        "--trace",
        format.needs_trace ? "xray needs" : "--from, --to, --limit and --raw-times cut", run));
  }
  if (options.cuts.are_given()) {
    return core::fail(
        fmt::format("--from, --to, --limit and --raw-times cut a trace, and {} is "
                    "not of it; leave them out",
                    format.name));
  }
  return {};
}

}  // namespace

int run(const cli::ConvertOptions& options) {
  const Format& format = format_named(options.format);
  if (options.output == "-" && format.is_binary && ::isatty(STDOUT_FILENO) == 1) {
    core::print_error(fmt::format(
        "{} is a binary format, and stdout is a terminal; write a file with -o FILE", format.name));
    return kUsage;
  }
  if (is_of_spoor(options)) {
    return convert_spoor(options, format);
  }
  if (const auto one = check_single_run(options); !one) {
    core::print_error(one.error().message());
    return kUsage;
  }
  const auto directory = run_files::named_or_newest_run(options.run);
  if (!directory) {
    return fail(directory.error());
  }
  const std::string trace = run_files::trace_path(*directory);
  if (!trace.empty() && has_traces(format)) {
    return convert_trace(options, format, *directory);
  }
  if (const auto meant = check_without_trace(options, format, *directory, trace); !meant) {
    return fail(meant.error());
  }
  auto input = format.needs_coverage ? read_coverage(*directory, format, options)
                                     : read_input(*directory, format, options);
  if (!input) {
    return fail(input.error());
  }
  const std::string path = options.output.empty()
                               ? fmt::format("{}/{}{}{}", run_files::directory_of(*directory),
                                             format.before, input->run.name, format.behind)
                               : options.output;
  const auto written =
      run_files::write_output(path, [&](std::ostream& out) { format.write(*input, out); });
  if (!written) {
    return fail(written.error());
  }
  if (input->recording) {
    note_recording(*input);
  }
  if (input->stacks) {
    run_files::print_notes(input->notes, *input->stacks, "the file");
  } else {
    run_files::print_notes(input->notes, "the file");
  }
  if (path != "-") {
    core::print_note(fmt::format("{}: {}", format.name, kinds(format, *input)));
    core::print_note(fmt::format("next: {}{}{}", format.open_with,
                                 format.open_with.ends_with('=') ? "" : " ",
                                 profiler::command_text({path})));
  }
  return 0;
}

}  // namespace sp::convert
