#include "profiler/recording/recording_writer.h"

#include <algorithm>

namespace sp::profiler {
namespace {

using core::Result;

/// Of nodes and places: a chunk has about kChunkSize bytes.
constexpr std::size_t kRowsInChunk = std::size_t{1} << 16U;

}  // namespace

RecordingWriter::RecordingWriter(ByteSink& sink, core::TimePoint started,
                                 std::uint64_t most_samples)
    : started_(started), most_samples_(most_samples), container_(sink), strings_(container_, 0) {}

Result<void> RecordingWriter::begin(const ContainerHeader& header) {
  return container_.begin(header);
}

void RecordingWriter::add(const core::SampleTaken& sample, Profile::Placed placed) {
  const std::uint64_t number = seen_++;
  if (number % stride_ == 0 && kept_ == most_samples_) {
    thin();
  }
  if (number % stride_ != 0) {
    return;
  }
  ++kept_;
  if (samples_.empty()) {
    first_ = number;
  }
  samples_.push_back({since_start(sample.time), sample.count, placed.thread, placed.node,
                      static_cast<std::uint8_t>(sample.kind)});
}

/// Of the samples so far every second one is left out from now on.
void RecordingWriter::thin() {
  std::size_t left = 0;
  for (std::size_t i = first_ % (2 * stride_) == 0 ? 0 : 1; i < samples_.size(); i += 2) {
    samples_[left++] = samples_[i];
  }
  first_ += first_ % (2 * stride_);
  samples_.resize(left);
  stride_ *= 2;
  kept_ = (kept_ + 1) / 2;
}

Result<void> RecordingWriter::flush(const Profile& profile) {
  for (const auto& write : {&RecordingWriter::write_modules, &RecordingWriter::write_tasks,
                            &RecordingWriter::write_places, &RecordingWriter::write_nodes}) {
    if (auto written = (this->*write)(profile); !written) {
      return written;
    }
  }
  return write_samples();
}

Result<void> RecordingWriter::write_modules(const Profile& profile) {
  RowStream rows(container_, ChunkKind::modules, 0, strings_);
  for (const std::size_t number : modules_) {
    const core::Module& module = profile.modules()[number];
    PayloadWriter& row = rows.row();
    row.u32(static_cast<std::uint32_t>(module.id));
    row.u32(static_cast<std::uint32_t>(module.kind));
    row.u32(module.deleted ? 1 : 0);
    row.u32(strings_.add(module.path));
    row.u32(strings_.add(module.build_id));
    row.number(module.process.pid);
    row.u32(module.process.serial);
    row.u32(0);
    row.u64(module.base.value());
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  modules_.clear();
  return rows.flush();
}

Result<void> RecordingWriter::write_tasks(const Profile& profile) {
  const std::vector<core::ProcessSeen>& seen = profile.processes();
  RowStream processes(container_, ChunkKind::processes, 0, strings_);
  for (std::size_t i = processes_written_; i < seen.size(); ++i) {
    const core::ProcessSeen& process = seen[i];
    PayloadWriter& row = processes.row();
    row.number(process.process.pid);
    row.u32(process.process.serial);
    row.number(process.parent.pid);
    row.u32(process.parent.serial);
    row.u32(strings_.number(process.command));
    if (auto written = processes.end_row(); !written) {
      return written;
    }
  }
  if (auto written = processes.flush(); !written) {
    return written;
  }
  processes_written_ = seen.size();
  RowStream threads(container_, ChunkKind::threads, 0, strings_);
  std::erase_if(threads_, [this](std::uint32_t number) { return number >= threads_written_; });
  for (std::size_t number = threads_written_; number < profile.threads().size(); ++number) {
    threads_.push_back(static_cast<std::uint32_t>(number));
  }
  for (const std::uint32_t number : threads_) {
    const Profile::Thread& thread = profile.threads()[number];
    PayloadWriter& row = threads.row();
    row.u32(number);
    row.number(thread.id.tid);
    row.u32(thread.id.serial);
    row.number(thread.process.pid);
    row.u32(thread.process.serial);
    row.u32(strings_.number(thread.name));
    row.number(since_start(thread.seen));
    if (auto written = threads.end_row(); !written) {
      return written;
    }
  }
  auto written = threads.flush();
  if (written) {
    threads_.clear();
    threads_written_ = profile.threads().size();
  }
  return written;
}

Result<void> RecordingWriter::write_places(const Profile& profile) {
  const std::vector<Step>& steps = profile.steps();
  while (places_written_ < steps.size()) {
    const std::size_t count = std::min(kRowsInChunk, steps.size() - places_written_);
    const auto rows = std::span(steps).subspan(places_written_, count);
    PayloadWriter payload;
    payload.u32(static_cast<std::uint32_t>(places_written_));
    payload.u32(static_cast<std::uint32_t>(count));
    for (const Step& step : rows) {
      payload.u64(step.kind == StepKind::blocked ? strings_.number(profile.syscalls()[step.value])
                                                 : step.value);
    }
    for (const Step& step : rows) {
      payload.u32(static_cast<std::uint32_t>(step.module));
    }
    for (const Step& step : rows) {
      payload.number(static_cast<std::uint8_t>(step.kind));
    }
    auto written = strings_.flush();
    if (written) {
      written = container_.add(ChunkKind::places, 0, payload.bytes());
    }
    if (!written) {
      return written;
    }
    places_written_ += count;
  }
  return {};
}

Result<void> RecordingWriter::write_nodes(const Profile& profile) {
  const std::vector<Profile::Node>& nodes = profile.nodes();
  while (nodes_written_ < nodes.size()) {
    const std::size_t count = std::min(kRowsInChunk, nodes.size() - nodes_written_);
    const auto rows = std::span(nodes).subspan(nodes_written_, count);
    PayloadWriter payload;
    payload.u32(static_cast<std::uint32_t>(nodes_written_));
    payload.u32(static_cast<std::uint32_t>(count));
    for (const Profile::Node& node : rows) {
      payload.u32(node.parent);
    }
    for (const Profile::Node& node : rows) {
      payload.u32(node.step);
    }
    if (auto written = container_.add(ChunkKind::stacks, 0, payload.bytes()); !written) {
      return written;
    }
    nodes_written_ += count;
  }
  return {};
}

Result<void> RecordingWriter::write_samples() {
  if (samples_.empty()) {
    return {};
  }
  PayloadWriter payload;
  payload.u64(first_);
  payload.u64(stride_);
  payload.u64(samples_.size());
  std::int64_t before = 0;
  for (const Sample& sample : samples_) {
    payload.number(sample.time - before);
    before = sample.time;
  }
  // A column compresses better than a row.
  const auto column = [&](auto member) {
    for (const Sample& sample : samples_) {
      payload.number(sample.*member);
    }
  };
  column(&Sample::weight);
  column(&Sample::thread);
  column(&Sample::node);
  column(&Sample::kind);
  samples_.clear();
  return container_.add(ChunkKind::samples, 0, payload.bytes());
}

Result<void> RecordingWriter::write_set(const Profile& profile, const SetContent& content,
                                        core::TimePoint now) {
  if (auto written = flush(profile); !written) {
    return written;
  }
  return SetWriter(container_, ++sets_, started_).write(profile, content, now);
}

}  // namespace sp::profiler
