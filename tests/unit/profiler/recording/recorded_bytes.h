#pragma once

#include <optional>
#include <string>
#include <utility>

#include "profiler/formats/run_json.h"
#include "profiler/named_code.h"
#include "profiler/named_profile.h"
#include "profiler/recording/recording_writer.h"
#include "unit/profiler/probed.h"
#include "unit/profiler/recording/memory_sink.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler::test {

/// A run that is recorded into memory; its times count from zero.
class RecordedBytes {
 public:
  explicit RecordedBytes(std::uint64_t most_samples = RecordingWriter::kMostSamples)
      : writer_(sink, {}, most_samples) {
    add_modules(profile);
    for (std::size_t module = 0; module < profile.modules().size(); ++module) {
      writer_.module_changed(module);
    }
    profile.add(core::ProcessSeen{{4711, 1}, {}, "demo --fast"});
    EXPECT_TRUE(writer_.begin({}));
  }

  void thread(int tid, const std::string& name) {
    writer_.thread_changed(
        profile.add(core::ThreadSeen{{4711, 1}, {tid, 1}, name, second(0.001 * tid)}));
  }
  void add(core::SampleTaken sample, int tid, double at) {
    sample.process = {4711, 1};
    sample.thread = {tid, 1};
    sample.time = second(at);
    writer_.add(sample, profile.add(sample));
  }
  void flush() { EXPECT_TRUE(writer_.flush(profile)); }
  void write_set(const std::string& facts, Namer& namer, const ProbedProfile* probed = nullptr) {
    NamedProfile named = name_profile(profile, namer);
    std::optional<NamedCode> code;
    if (probed != nullptr) {
      code = name_code(*probed, {}, namer, 1);
      add_calls(named.functions, *code, profile.modules());
    }
    EXPECT_TRUE(writer_.write_set(profile,
                                  {[&](std::ostream& out) { out << facts; },
                                   &named,
                                   code ? &*code : nullptr,
                                   {profile.modules(), {}, {}}},
                                  second(9)));
  }
  void finish() { EXPECT_TRUE(writer_.finish()); }

  MemorySink sink;
  Profile profile{false};

 private:
  RecordingWriter writer_;
};

/// A small recording with something of everything.
inline std::string small_recording() {
  RecordedBytes run;
  TableNamer namer;
  namer.set({kProgram, 0x10}, "main");
  namer.set({kProgram, 0x20},
            {named("inner", "/src/demo.c", 7, true), named("outer", "/src/demo.c", 9)});
  run.thread(4711, "demo");
  run.thread(4712, "wor;ker");
  run.add(sample({0x20, 0x10}), 4711, 1);
  run.add(sample({0x20, 0x10}), 4711, 1.5);
  run.add(blocked_sample({0x10}, "read"), 4712, 2);
  run.flush();
  run.add(pc_sample(0x20), 4712, 3);
  run.add(sample({0x30}, core::StackEnd::bad_memory), 4712, 4);
  ProbedProfile probed;
  probed.add(Probed()
                 .block(block(0x10, 8, 3))
                 .block(until(7, block(0x20, 8, 40)))
                 .edge(0x16, 0x20, EdgeFlow::call, 3)
                 .taken());
  run.write_set("{\"name\": \"demo\"}", namer, &probed);
  run.finish();
  return run.sink.text;
}

}  // namespace sp::profiler::test
