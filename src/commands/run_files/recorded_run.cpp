#include "commands/run_files/recorded_run.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "commands/run_files/code_builder.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/recorded_stacks.h"
#include "commands/run_files/recording_file.h"
#include "profiler/counted_span.h"

namespace sp::run_files {
namespace {

using core::Result;

std::string_view kind_word(core::ModuleKind kind) {
  switch (kind) {
    case core::ModuleKind::file:
      return "file";
    case core::ModuleKind::vdso:
      return "vdso";
    case core::ModuleKind::jit:
      return "jit";
    case core::ModuleKind::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

void bring_up_to_date(profiler::RecordedRun& run, profiler::RecordingReader& reader) {
  if (reader.header().finished) {
    return;
  }
  const std::vector<std::uint64_t> sums = reader.sums();
  run.samples = 0;
  run.with_stack = 0;
  std::vector<bool> has_stack(sums.size());
  for (std::uint32_t node = 0; node < sums.size(); ++node) {
    has_stack[node] = node == profiler::Profile::kRoot || (node > profiler::Profile::kPcOnlyRoot &&
                                                           has_stack[reader.nodes()[node].parent]);
    run.samples += sums[node];
    run.with_stack += has_stack[node] ? sums[node] : 0;
  }
  const profiler::RecordingSamples samples = reader.samples();
  run.elapsed_seconds = static_cast<double>(samples.last_ns) / 1e9;
  run.started_ns = reader.header().realtime_ns;
  run.cpu_ns = 0;  // as of the last snapshot
  run.modules.clear();
  for (const profiler::RecordingModule& module : reader.modules()) {
    run.modules.push_back({std::string(module.path), std::string(kind_word(module.kind)),
                           std::string(module.build_id), module.base});
  }
  if (run.command.empty() && !reader.processes().empty()) {
    run.command = reader.processes().front().command;
  }
}

bool is_only_recorded(const std::string& run, const std::string& file) {
  std::error_code error;
  return !std::filesystem::exists(run + "/" + file, error) &&
         (std::filesystem::is_regular_file(run, error) ||
          std::filesystem::exists(run + "/recording.sp", error));
}

Result<profiler::RecordedRun> recorded_run(const std::string& run) {
  auto recording = open_recording(run);
  if (!recording) {
    return tl::unexpected(recording.error());
  }
  profiler::RecordingReader& reader = recording->reader;
  auto parsed = parse_run(reader.facts(), recording->path);
  profiler::RecordedRun recorded = parsed ? std::move(*parsed) : profiler::RecordedRun{};
  bring_up_to_date(recorded, reader);
  return recorded;
}

Result<std::unique_ptr<RunStacks>> recorded_stacks(const std::string& run) {
  auto recording = open_recording(run);
  if (!recording) {
    return tl::unexpected(recording.error());
  }
  return std::make_unique<RecordedStacks>(std::move(*recording));
}

Result<profiler::RecordedCode> recorded_code(const std::string& run,
                                             std::vector<std::string>& notes) {
  auto recording = open_recording(run);
  if (!recording) {
    return tl::unexpected(recording.error());
  }
  profiler::RecordingReader& reader = recording->reader;
  const auto path = [&reader](std::uint32_t module) {
    const profiler::RecordingModule* known = reader.module(module);
    return known == nullptr ? std::string("[unknown]") : std::string(known->path);
  };
  CodeBuilder code;
  reader.for_each_block([&](const profiler::RecordingBlock& block) {
    const profiler::RecordingCode& function = reader.code()[block.code];
    code.add(CodeBuilder::Block{
        path(function.module), std::string(function.name), function.start, block.offset, block.size,
        block.instructions, block.hits, std::string(block.file), block.line, block.span.is_whole(),
        block.span.until.has_value(), profiler::kind_text(block.span, core::TimePoint{})});
  });
  reader.for_each_edge([&](const profiler::RecordingEdge& edge) {
    const bool is_entry = edge.flow == core::EdgeFlow::entry;
    code.add({0, 0, edge.flow, is_entry ? 0 : edge.from, edge.to, edge.hits, edge.span.is_whole(),
              edge.span.until.has_value()},
             path(edge.from_module), path(edge.to_module),
             profiler::kind_text(edge.span, core::TimePoint{}));
  });
  if (!reader.damage().empty()) {
    notes.push_back(reader.damage());
  }
  return code.finish();
}

}  // namespace sp::run_files
