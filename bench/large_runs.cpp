// large_runs DIR [EVENTS [STACKS]]
//
// Makes two runs that are too large to be recorded for a measurement: DIR/trace with a trace of
// EVENTS (100 million) calls and returns of four threads, and DIR/stacks with 100 samples of each
// of STACKS (1 million) different stacks. bench/conversions converts them.

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "block_namer.h"
#include "profiler/named_profile.h"
#include "profiler/profile.h"
#include "profiler/recorder.h"
#include "profiler/trace/trace_writer.h"

namespace {

using sp::core::TraceEvent;
using sp::core::TraceEventKind;
using sp::profiler::Profile;

constexpr std::uint32_t kFunctions = 1000;
constexpr std::uint32_t kThreads = 4;

class FileSink final : public sp::profiler::ByteSink {
 public:
  explicit FileSink(const std::string& path) : out_(path, std::ios::binary) {}
  sp::core::Result<void> append(std::span<const std::byte> bytes) override {
    out_.write(static_cast<const char*>(static_cast<const void*>(bytes.data())),
               static_cast<std::streamsize>(bytes.size()));
    return out_ ? sp::core::Result<void>{} : sp::core::fail("writing failed");
  }
  sp::core::Result<void> replace(std::uint64_t offset, std::span<const std::byte> bytes) override {
    out_.seekp(static_cast<std::streamoff>(offset));
    auto written = append(bytes);
    out_.seekp(0, std::ios::end);
    return written;
  }

 private:
  std::ofstream out_;
};

void must(const sp::core::Result<void>& done) {
  if (!done) {
    std::fprintf(stderr, "large_runs: %s\n", done.error().message().c_str());
    std::exit(1);
  }
}

sp::core::RunFacts facts_of(const std::string& name) {
  sp::core::RunFacts facts;
  facts.name = name;
  facts.command = {"./made-up"};
  facts.pid = 4711;
  facts.host_arch = "x86_64";
  facts.elapsed = std::chrono::seconds(10);
  facts.cost.target_cpu = std::chrono::seconds(10);
  return facts;
}

sp::core::Module program() {
  sp::core::Module module;
  module.id = sp::core::ModuleId{1};
  module.path = "/opt/made-up";
  module.kind = sp::core::ModuleKind::file;
  return module;
}

/// Calls of one thread: a walk up and down a stack.
class Caller {
 public:
  explicit Caller(std::uint32_t seed) : random_(seed) {}

  TraceEvent next(std::uint64_t ticks, bool ends) {
    constexpr std::size_t kDeepest = 40;
    const bool returns =
        !open_.empty() && (ends || open_.size() == kDeepest || (random_() & 1U) != 0);
    if (returns) {
      const std::uint32_t function = open_.back();
      open_.pop_back();
      return TraceEvent::at(TraceEventKind::ret, ticks, function, sp());
    }
    const auto function = static_cast<std::uint32_t>(random_() % kFunctions);
    const TraceEvent entry = TraceEvent::at(TraceEventKind::entry, ticks, function, sp());
    open_.push_back(function);
    return entry;
  }
  [[nodiscard]] std::size_t open() const { return open_.size(); }

 private:
  [[nodiscard]] std::uint64_t sp() const { return 0x7ff00000 - 64 * open_.size(); }

  std::minstd_rand random_;
  std::vector<std::uint32_t> open_;
};

void make_trace(const std::string& directory, std::uint64_t events) {
  ::mkdir(directory.c_str(), 0777);
  FileSink sink(directory + "/trace.sp");
  sp::profiler::TraceWriter writer(sink);
  const sp::core::RunFacts facts = facts_of("trace");
  must(writer.begin(sp::profiler::container_header(facts, {})));
  must(writer.add_process({4711, 0}, {}, "./made-up"));
  must(writer.add_module(0, program().path, "", 0x400000, sp::core::ModuleKind::file));
  for (std::uint32_t number = 0; number < kFunctions; ++number) {
    const std::string name = "function_" + std::to_string(number);
    must(writer.add_function(
        number, {.module = 0, .offset = 64U * number, .size = 64, .id = number, .name = name}));
  }
  constexpr std::uint64_t kInBatch = std::uint64_t{1} << 15U;
  std::uint64_t ticks = 1;
  const std::uint64_t of_thread = events / kThreads;
  std::vector<Caller> callers;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    callers.emplace_back(thread + 1);
    const std::string name = "thread " + std::to_string(thread);
    must(writer.add_thread(thread, {4711 + static_cast<pid_t>(thread), 0}, {4711, 0}, name));
  }
  for (std::uint64_t done = 0; done < of_thread; done += kInBatch) {
    const std::uint64_t count = std::min(kInBatch, of_thread - done);
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      std::vector<TraceEvent> batch;
      for (std::uint64_t i = 0; i < count; ++i) {
        const bool ends = of_thread - done - i <= callers[thread].open();
        batch.push_back(callers[thread].next(ticks + 100 * i, ends));
      }
      must(writer.add_events(thread, done, 0, batch));
    }
    ticks += 100 * count;
  }
  must(writer.write_facts("{}", static_cast<std::int64_t>(ticks)));
  must(writer.finish());
}

/// A stack spells its number, three digits a call, below five calls that all have.
void make_stacks(const std::string& directory, std::uint32_t stacks) {
  ::mkdir(directory.c_str(), 0777);
  Profile profile(false);
  profile.add(sp::core::ModuleSeen{program()});
  sp::core::SampleTaken sample;
  sample.process = {4711, 0};
  sample.thread = {4711, 0};
  sample.count = 100;
  for (std::uint32_t number = 0; number < stacks; ++number) {
    auto& frames = sample.stack.frames;
    frames.clear();
    std::uint32_t rest = number;
    for (std::uint64_t level = 0; level < 3; ++level) {
      frames.push_back({{program().id, 64 * (rest % 1000 + 1000 * level)}, level > 0});
      rest /= 1000;
    }
    for (std::uint64_t level = 3; level < 8; ++level) {
      frames.push_back({{program().id, 64 * 1000 * level}, true});
    }
    profile.add(sample);
  }
  BlockNamer namer;
  const sp::profiler::NamedProfile named = sp::profiler::name_profile(profile, namer);
  sp::profiler::RunReport report{.facts = facts_of("stacks"),
                                 .counts = profile.counts(),
                                 .modules = profile.modules(),
                                 .processes = profile.processes()};
  std::ofstream out(directory + "/recording.sp", std::ios::binary);
  sp::profiler::write_recording(out, profile, {}, sp::profiler::recorded_state(report, &named));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: large_runs DIR [EVENTS [STACKS]]\n", stderr);
    return 2;
  }
  const std::string directory = argv[1];
  const std::uint64_t events = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000'000;
  const std::uint64_t stacks = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  make_trace(directory + "/trace", events);
  make_stacks(directory + "/stacks", static_cast<std::uint32_t>(stacks));
  return 0;
}
