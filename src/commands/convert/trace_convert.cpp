#include "commands/convert/trace_convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>
#include <utility>

#include "commands/run_files/finished_run.h"
#include "commands/run_files/output_file.h"
#include "commands/run_files/trace_file.h"
#include "core/log.h"
#include "profiler/describe.h"
#include "profiler/formats/trace_chrome.h"
#include "profiler/formats/trace_perfetto.h"
#include "profiler/formats/trace_speedscope.h"
#include "profiler/formats/xray_log.h"
#include "profiler/text.h"

namespace sp::convert {
namespace {

using core::Result;

struct TraceInput {
  TraceInput(run_files::TraceFile opened, const profiler::TraceView& view)
      : file(std::move(opened)), run(run_files::run_of_trace(file)), walk(file.reader, view) {}

  run_files::TraceFile file;
  profiler::RecordedRun run;
  profiler::TraceWalk walk;
};

using TraceWriterOf = void (*)(std::ostream& out, TraceInput& input);

constexpr std::string_view kExporter = "superprofiler " SP_VERSION;

void write_perfetto_trace(std::ostream& out, TraceInput& input) {
  profiler::write_trace_perfetto(out, input.file.reader, input.walk);
}

void write_chrome_trace(std::ostream& out, TraceInput& input) {
  profiler::write_trace_chrome(out, input.file.reader, input.walk, input.run.command, kExporter);
}

void write_speedscope_trace(std::ostream& out, TraceInput& input) {
  profiler::write_trace_speedscope(out, input.file.reader, input.walk, input.run.name, kExporter);
}

void write_xray_trace(std::ostream& out, TraceInput& input) {
  profiler::write_xray_log(out, input.file.reader, input.walk);
}

constexpr std::string_view kXray = "xray";
constexpr int kFailed = 125;

constexpr auto kTraceWriters = std::to_array<std::pair<std::string_view, TraceWriterOf>>({
    {"perfetto", write_perfetto_trace},
    {"chrome", write_chrome_trace},
    {"speedscope", write_speedscope_trace},
    {kXray, write_xray_trace},
});

TraceWriterOf writer_of(const Format& format) {
  const auto* const found = std::find_if(kTraceWriters.begin(), kTraceWriters.end(),
                                         [&](const auto& row) { return row.first == format.name; });
  return found == kTraceWriters.end() ? nullptr : found->second;
}

Result<void> write_files(const Format& format, const std::string& path, TraceInput& input) {
  const auto written =
      run_files::write_output(path, [&](std::ostream& out) { writer_of(format)(out, input); });
  if (!written) {
    return tl::unexpected(written.error());
  }
  if (format.name == kXray) {
    const auto map = run_files::write_output(path + ".yaml", [&](std::ostream& out) {
      profiler::write_xray_map(out, input.file.reader);
    });
    if (!map) {
      return tl::unexpected(map.error());
    }
  }
  return {};
}

std::string next_command(const Format& format, const std::string& path) {
  const std::string map =
      format.name == kXray ? " -instr_map=" + profiler::command_text({path + ".yaml"}) : "";
  return fmt::format("{} {}{}", format.open_with, profiler::command_text({path}), map);
}

}  // namespace

bool has_traces(const Format& format) { return writer_of(format) != nullptr; }

int convert_trace(const cli::ConvertOptions& options, const Format& format,
                  const std::string& run) {
  auto file = run_files::open_trace(run);
  if (!file) {
    core::print_error(file.error().message());
    return kFailed;
  }
  return convert_open_trace(options, format, std::move(*file), run_files::directory_of(run), "");
}

int convert_open_trace(const cli::ConvertOptions& options, const Format& format,
                       run_files::TraceFile file, const std::string& directory,
                       const std::string& name, std::vector<std::string> notes) {
  const profiler::TraceView view = run_files::view_of(file, options.cuts);
  TraceInput input(std::move(file), view);
  const std::string path = options.output.empty()
                               ? fmt::format("{}/{}{}{}", directory, format.before,
                                             name.empty() ? input.run.name : name, format.behind)
                               : options.output;
  if (const auto written = write_files(format, path, input); !written) {
    core::print_error(written.error().message());
    return kFailed;
  }
  for (std::string& note : run_files::notes_of_trace(input.file, input.walk)) {
    notes.push_back(std::move(note));
  }
  if (input.walk.is_cut()) {
    notes.push_back(fmt::format("the trace goes on: --limit {} is reached", options.cuts.limit));
  }
  run_files::print_notes(notes, "the file");
  if (path != "-") {
    const std::uint64_t own = input.walk.notes();
    core::print_note(fmt::format(
        "{}: traced, {} begins and ends of calls{}", format.name,
        profiler::grouped(input.walk.passed_on()),
        own == 0 ? "" : fmt::format(", {} events of the program's own", profiler::grouped(own))));
    core::print_note(fmt::format("next: {}", next_command(format, path)));
  }
  return 0;
}

}  // namespace sp::convert
