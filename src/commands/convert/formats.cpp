#include "commands/convert/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include "commands/convert/source_counts.h"
#include "core/check.h"
#include "profiler/formats/autofdo.h"
#include "profiler/formats/bolt.h"
#include "profiler/formats/callgrind.h"
#include "profiler/formats/chrome.h"
#include "profiler/formats/cobertura.h"
#include "profiler/formats/firefox.h"
#include "profiler/formats/flamegraph_svg.h"
#include "profiler/formats/folded.h"
#include "profiler/formats/functions_csv.h"
#include "profiler/formats/lcov.h"
#include "profiler/formats/perf_script.h"
#include "profiler/formats/perfetto.h"
#include "profiler/formats/pprof.h"
#include "profiler/formats/speedscope.h"
#include "profiler/gzip_stream.h"
#include "profiler/recorded_profile.h"
#include "profiler/text.h"

namespace sp::convert {
namespace {

const profiler::RecordedCode* code_of(const Input& input) {
  return input.code ? &*input.code : nullptr;
}

void write_callgrind(Input& input, std::ostream& out) {
  profiler::write_callgrind(out, input.run, *input.stacks, code_of(input));
}

void write_callgrind_lines(Input& input, std::ostream& out) {
  profiler::write_callgrind(out, input.run, *input.stacks, code_of(input),
                            profiler::CallgrindPositions::lines);
}

void write_speedscope(Input& input, std::ostream& out) {
  if (const auto rounded = profiler::write_speedscope(out, input.run, *input.stacks); rounded > 0) {
    input.notes.push_back(fmt::format(
        "{} numbers are above 2^53: speedscope rounds them, the file has them in full", rounded));
  }
}

void write_pprof(Input& input, std::ostream& out) {
  profiler::GzipBuffer buffer(out);
  std::ostream compressed(&buffer);
  profiler::write_pprof(compressed, input.run, *input.stacks, code_of(input));
  buffer.finish();
}

void write_folded(Input& input, std::ostream& out) { profiler::write_folded(out, *input.stacks); }

void write_svg(Input& input, std::ostream& out) {
  profiler::write_flamegraph_svg(
      out, profiler::named_profile(input.run, *input.stacks),
      {input.run.command,
       fmt::format("{}, {:.2f} s", input.run.sampling(), input.run.elapsed_seconds)});
}

void write_csv(Input& input, std::ostream& out) {
  profiler::write_functions_csv(out, input.stacks->rows());
}

void write_perf_script(Input& input, std::ostream& out) {
  profiler::write_perf_script(out, input.run, input.recording->reader);
}

void write_chrome(Input& input, std::ostream& out) {
  profiler::write_chrome(out, input.run, input.recording->reader);
}

void write_firefox(Input& input, std::ostream& out) {
  profiler::GzipBuffer buffer(out);
  std::ostream compressed(&buffer);
  profiler::write_firefox(compressed, input.run, input.recording->reader);
  buffer.finish();
}

void write_perfetto(Input& input, std::ostream& out) {
  profiler::write_perfetto(out, input.run, input.recording->reader);
}

core::Result<void> read_bolt_code(Input& input) {
  auto code = bolt_code(input.file->sections, *input.code, input.file->module);
  if (!code) {
    return tl::unexpected(code.error());
  }
  input.bolt = std::move(*code);
  return {};
}

void write_bolt(Input& input, std::ostream& out) {
  const auto sums = profiler::write_bolt(out, *input.code, input.file->module, input.bolt);
  input.notes.push_back(fmt::format("{} branches of {} functions of {}",
                                    profiler::grouped(sums.branches),
                                    profiler::grouped(sums.functions), input.file->path));
  if (sums.left_out > 0) {
    input.notes.push_back(fmt::format(
        "{} functions are left out, and BOLT will take them for cold: their branches were not "
        "counted to the end; record with --single",
        profiler::grouped(sums.left_out)));
  }
}

core::Result<void> check_debug_information(Input& input) {
  const auto found = debug_sections(*input.file);
  return found ? core::Result<void>() : tl::unexpected(found.error());
}

void write_autofdo(Input& input, std::ostream& out) {
  const auto sums = for_each_source(
      *input.file, *input.code,
      [&](const profiler::CountedSource& source) { return profiler::write_autofdo(out, source); });
  input.notes.push_back(
      fmt::format("{} functions of {}", profiler::grouped(sums.functions), input.file->path));
  if (sums.without_lines > 0) {
    input.notes.push_back(fmt::format("{} counted functions have no debug information",
                                      profiler::grouped(sums.without_lines)));
  }
  if (sums.left_out > 0) {
    input.notes.push_back(
        fmt::format("{} functions are left out: they were not counted to the end; record with -a "
                    "or --single",
                    profiler::grouped(sums.left_out)));
  }
}

void write_lcov_file(Input& input, std::ostream& out) { profiler::write_lcov(out, input.sources); }

void write_cobertura_file(Input& input, std::ostream& out) {
  profiler::write_cobertura(out, input.sources, {SP_VERSION, std::chrono::system_clock::now()});
}

void write_drcov_file(Input& input, std::ostream& out) {
  const std::uint64_t blocks = profiler::write_drcov(out, *input.coverage, input.images);
  input.notes.push_back(fmt::format("{} blocks", profiler::grouped(blocks)));
}

constexpr auto kFormats = std::to_array<Format>({
    {"callgrind", "callgrind.out.", "", "callgrind_annotate", false, false, true, false,
     write_callgrind},
    {"callgrind-lines", "callgrind.lines.", "", "speedscope", false, false, true, false,
     write_callgrind_lines},
    {"speedscope", "", ".speedscope.json", "speedscope", false, true, false, false,
     write_speedscope},
    {"pprof", "", ".pb.gz", "go tool pprof -http=:", true, false, true, false, write_pprof},
    {"folded", "", ".folded", "flamegraph.pl", false, true, false, false, write_folded},
    {"svg", "", ".svg", "xdg-open", false, true, false, false, write_svg},
    {"csv", "", ".csv", "xdg-open", false, false, true, false, write_csv},
    {"bolt", "", ".fdata",
     "llvm-bolt PROGRAM -o PROGRAM.bolt -reorder-blocks=ext-tsp -reorder-functions=hfsort "
     "-split-functions -data",
     false, false, true, false, write_bolt, read_bolt_code},
    {"autofdo", "", ".afdo", "clang -O2 -fprofile-sample-use=", false, false, true, false,
     write_autofdo, check_debug_information},
    {"perf-script", "", ".perf.txt", "speedscope", false, true, false, true, write_perf_script},
    {"firefox", "", ".firefox.json.gz", "samply load", true, true, false, true, write_firefox},
    {"chrome", "", ".trace.json", "speedscope", false, true, false, true, write_chrome},
    {"perfetto", "", ".perfetto-trace", "trace_processor", true, true, false, true, write_perfetto},
    {"lcov", "", ".info", "genhtml -o html", false, false, false, false, write_lcov_file, nullptr,
     true, false, true},
    {"cobertura", "", ".cobertura.xml", "reportgenerator -targetdir:html -reports:", false, false,
     false, false, write_cobertura_file, nullptr, true, false, true},
    {"drcov", "", ".drcov", "drcov2lcov -input", true, false, false, false, write_drcov_file,
     nullptr, true},
    {"xray", "", ".xray", "llvm-xray account", true, false, false, false, nullptr, nullptr, false,
     true},
});

/// The formats for the run that do not need something.
std::string names_of(const profiler::RecordedRun& run, bool Format::*need) {
  std::string names;
  for (const Format& format : kFormats) {
    if (!(format.*need) && !format.needs_coverage && !format.needs_trace &&
        (format.read_file == nullptr || !run.counts_kind.empty())) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
    }
  }
  return names;
}

}  // namespace

const Format& format_named(std::string_view name) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const Format& format) { return format.name == name; });
  SP_CHECK(found != kFormats.end());  // the command line was checked
  return *found;
}

core::Result<void> check_content(const Format& format, const profiler::RecordedRun& run,
                                 const std::string& directory) {
  if (format.read_file != nullptr && run.counts_kind.empty()) {
    return core::fail(
        fmt::format("the run in {} has no counts, so nothing for {}; record it with --single",
                    directory, format.name));
  }
  if (!format.needs_stacks || run.with_stack > 0) {
    return {};
  }
  return core::fail(
      fmt::format("the run in {} has no stacks, so nothing for {}; formats that are left: {}",
                  directory, format.name, names_of(run, &Format::needs_stacks)));
}

core::Result<run_files::RecordingFile> open_recording(const Format& format,
                                                      const profiler::RecordedRun& run,
                                                      const std::string& directory) {
  auto recording = run_files::open_recording(directory);
  if (!recording) {
    return core::fail(fmt::format("{} needs a recording: {}; formats that are left: {}",
                                  format.name, recording.error().message(),
                                  names_of(run, &Format::needs_recording)));
  }
  return recording;
}

std::string kinds(const Format& format, const Input& input) {
  if (format.needs_coverage) {
    return "what was reached, exact";
  }
  if (format.read_file != nullptr) {
    return "counted: " + input.run.counts_kind;
  }
  std::string text = input.run.sampling();
  if (format.needs_stacks && input.run.with_stack < input.run.samples) {
    text += fmt::format(" ({} of them with a stack, which are in the file)",
                        profiler::grouped(input.run.with_stack));
  }
  if (format.has_counts) {
    text += input.run.counts_kind.empty() ? "; nothing was counted"
                                          : "; counted: " + input.run.counts_kind;
  }
  return text;
}

}  // namespace sp::convert
