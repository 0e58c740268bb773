#include "commands/report/html_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "commands/run_files/finished_run.h"
#include "commands/run_files/recorded_run.h"
#include "commands/run_files/recording_file.h"

namespace sp::report {
namespace {

using core::Result;

constexpr std::uint64_t kMostSamples = 1'000'000;

/// Null if there is none, or if it is damaged and the run has its other files.
std::unique_ptr<run_files::RecordedStacks> read_recorded(const std::string& run,
                                                         profiler::RecordedRun& facts) {
  auto recording = run_files::open_recording(run);
  if (!recording) {
    return nullptr;
  }
  if (!recording->reader.header().finished) {
    run_files::bring_up_to_date(facts, recording->reader);
  }
  auto stacks = std::make_unique<run_files::RecordedStacks>(std::move(*recording));
  std::error_code error;
  const bool has_others = std::filesystem::exists(run + "/stacks.folded", error) &&
                          std::filesystem::exists(run + "/functions.tsv", error);
  return stacks->damage().empty() || !has_others ? std::move(stacks) : nullptr;
}

}  // namespace

Result<HtmlInput> read_html_input(const std::string& run) {
  auto facts = run_files::read_run(run);
  if (!facts) {
    return tl::unexpected(facts.error());
  }
  HtmlInput input{std::move(*facts), nullptr, nullptr, std::nullopt, {}};
  if (auto recorded = read_recorded(run, input.run)) {
    input.recorded = recorded.get();
    input.stacks = std::move(recorded);
  } else {
    auto stacks = run_files::read_stacks(run, input.notes);
    if (!stacks) {
      return tl::unexpected(stacks.error());
    }
    input.stacks = std::move(*stacks);
  }
  if (!input.run.counts_kind.empty()) {
    auto code = run_files::read_code(run, input.notes);
    if (!code) {
      return tl::unexpected(code.error());
    }
    if (!code->blocks.empty()) {
      input.code = std::move(*code);
    }
  }
  return input;
}

profiler::ReportTimeline read_timeline(run_files::RecordedStacks& stacks) {
  profiler::RecordingReader& recording = stacks.recording();
  profiler::ReportTimeline timeline;
  for (const profiler::RecordingThread& thread : recording.threads()) {
    timeline.threads.push_back({std::string(thread.name), thread.id.tid, thread.process.pid});
  }
  const profiler::RecordingSamples all = recording.samples();
  const std::uint64_t every =
      std::max<std::uint64_t>((all.kept + kMostSamples - 1) / kMostSamples, 1);
  timeline.stride = std::max<std::uint64_t>(all.stride, 1) * every;
  timeline.samples.reserve(static_cast<std::size_t>(all.kept / every + 1));
  const std::vector<std::uint32_t> numbers = stacks.stack_numbers();
  std::uint64_t seen = 0;
  recording.for_each_sample([&](const profiler::RecordingSample& sample) {
    if (seen++ % every == 0 && sample.thread < timeline.threads.size()) {
      timeline.samples.push_back({sample.time_ns, sample.weight, sample.thread,
                                  sample.node < numbers.size() ? numbers[sample.node] : 0,
                                  sample.kind == core::SampleKind::blocked});
    }
  });
  std::stable_sort(timeline.samples.begin(), timeline.samples.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return timeline;
}

}  // namespace sp::report
