#include "profiler/recorder.h"

#include <fmt/format.h>

#include <ostream>
#include <random>
#include <utility>

#include "core/log.h"

namespace sp::profiler {
namespace {

using core::Result;

void list_all(RecordingWriter& writer, const Profile& profile) {
  for (std::size_t module = 0; module < profile.modules().size(); ++module) {
    writer.module_changed(module);
  }
  for (std::uint32_t thread = 0; thread < profile.threads().size(); ++thread) {
    writer.thread_changed(thread);
  }
}

class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(std::ostream& out) : out_(out) {}

  /// A stream's error is seen by who owns it.
  Result<void> append(std::span<const std::byte> bytes) override {
    out_.write(static_cast<const char*>(static_cast<const void*>(bytes.data())),
               static_cast<std::streamsize>(bytes.size()));
    return {};
  }
  Result<void> replace(std::uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    return core::fail("a stream cannot be changed");
  }

 private:
  std::ostream& out_;
};

}  // namespace

ContainerHeader container_header(const core::RunFacts& facts, core::TimePoint started) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  std::random_device random;
  ContainerHeader header;
  header.run_id = std::uint64_t{random()} << 32U | random();
  header.realtime_ns = duration_cast<nanoseconds>(facts.started_at.time_since_epoch()).count();
  header.monotonic_ns = duration_cast<nanoseconds>(started.time_since_epoch()).count();
  header.pid = static_cast<std::uint32_t>(facts.pid);
  header.cpu = facts.host_arch == "x86_64"    ? ContainerHeader::Cpu::x86_64
               : facts.host_arch == "aarch64" ? ContainerHeader::Cpu::aarch64
                                              : ContainerHeader::Cpu::unknown;
  return header;
}

Recorder::State recorded_state(const RunReport& report, const NamedProfile* named) {
  return {report.facts,
          {[report](std::ostream& out) { write_run_json(out, report); }, named, report.code,
           report.counts_context}};
}

Recorder::Recorder(RunDirectory& directory, core::TimePoint started,
                   std::function<State()> at_first_sample)
    : directory_(directory), started_(started), at_first_sample_(std::move(at_first_sample)) {}

void Recorder::add(const core::SampleTaken& sample, Profile::Placed placed,
                   const Profile& profile) {
  if (!writer_ && !failed_) {
    begin(profile);
  }
  if (failed_) {
    return;
  }
  writer_->add(sample, placed);
  if (writer_->is_full()) {
    flush(profile);
  }
}

void Recorder::module_changed(std::size_t number) {
  if (writer_ && !failed_) {
    writer_->module_changed(number);
  }
}

void Recorder::thread_changed(std::uint32_t number) {
  if (writer_ && !failed_) {
    writer_->thread_changed(number);
  }
}

void Recorder::tick(const Profile& profile, core::TimePoint now) {
  if (writer_ && !failed_ && now >= flushed_ + kInterval) {
    flush(profile);
  }
}

Result<WrittenFile> Recorder::write_set(const Profile& profile, const State& state, bool last) {
  Result<void> written;
  if (!writer_) {
    written = make(profile, state.facts);
  } else if (failed_) {
    list_all(*writer_, profile);
  }
  if (written) {
    written = writer_->write_set(profile, state.content, core::Clock::now());
  }
  if (written && last && !failed_) {
    written = writer_->finish();
  }
  if (written && !file_->has_name()) {
    written = core::fail(fmt::format("writing {}: it was removed meanwhile", file_->path()));
  }
  if (!written) {
    failed_ = true;
    return tl::unexpected(written.error());
  }
  return WrittenFile{std::string(kFile), file_->path(), file_->size()};
}

Result<void> Recorder::make(const Profile& profile, const core::RunFacts& facts) {
  auto file = directory_.create_growing(std::string(kFile));
  if (!file) {
    return tl::unexpected(file.error());
  }
  file_ = std::move(*file);
  writer_.emplace(*file_, started_);
  list_all(*writer_, profile);
  auto begun = writer_->begin(container_header(facts, started_));
  if (!begun) {
    writer_.reset();
    directory_.remove(std::string(kFile));
  }
  return begun;
}

void Recorder::begin(const Profile& profile) {
  const State state = at_first_sample_();
  auto begun = make(profile, state.facts);
  if (begun) {
    begun = writer_->write_set(profile, state.content, core::Clock::now());
  }
  if (!begun) {
    fail(begun.error());
  }
  flushed_ = core::Clock::now();
}

void Recorder::flush(const Profile& profile) {
  if (const auto written = writer_->flush(profile); !written) {
    fail(written.error());
  }
  flushed_ = core::Clock::now();
}

void Recorder::fail(const core::Error& error) {
  failed_ = true;
  core::print_error(error.message() +
                    "; the run goes on, but the times of further samples are not recorded");
}

void write_recording(std::ostream& out, const Profile& profile, core::TimePoint started,
                     const Recorder::State& state) {
  StreamSink sink(out);
  RecordingWriter writer(sink, started);
  // StreamSink::append() does not fail.
  list_all(writer, profile);
  (void)writer.begin(container_header(state.facts, started));
  (void)writer.write_set(profile, state.content, core::Clock::now());
}

}  // namespace sp::profiler
