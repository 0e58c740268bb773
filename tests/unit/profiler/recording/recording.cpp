#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/recording/recording_reader.h"
#include "unit/profiler/recording/recorded_bytes.h"

namespace sp::profiler {
namespace {

using test::RecordedBytes;
using test::sample;
using test::second;

/// Keeps the stream beside its reader.
struct Read {
  explicit Read(const std::string& bytes)
      : in(bytes), opened(RecordingReader::open(in, "recording.sp")), reader(*opened) {}

  std::istringstream in;
  core::Result<RecordingReader> opened;
  RecordingReader& reader;
};

std::vector<RecordingSample> samples_of(RecordingReader& reader) {
  std::vector<RecordingSample> samples;
  reader.for_each_sample([&](const RecordingSample& one) { samples.push_back(one); });
  return samples;
}

/// The names of a sample's stack, outermost first.
std::vector<std::string> stack_of(const RecordingReader& reader, std::uint32_t node) {
  std::vector<std::string> names;
  for (; node > Profile::kPcOnlyRoot; node = reader.nodes()[node].parent) {
    const auto at = reader.names_of(reader.nodes()[node].place);
    for (auto name = at.rbegin(); name != at.rend(); ++name) {
      names.insert(names.begin(), std::string(reader.functions()[name->function].name));
    }
  }
  return names;
}

/// Of functions with samples, in a row.
std::string names_in(const RecordingReader& reader) {
  std::string names;
  for (const RecordingFunction& function : reader.functions()) {
    names += function.self > 0 ? function.name : "";
  }
  return names;
}

TEST(Recording, gives_back_who_ran_where_and_when) {
  Read read(test::small_recording());
  RecordingReader& reader = read.reader;
  EXPECT_EQ(reader.damage(), "");
  EXPECT_TRUE(reader.header().finished);
  ASSERT_EQ(reader.modules().size(), 3U);
  EXPECT_EQ(reader.modules()[0].path, "/usr/bin/demo");
  EXPECT_EQ(reader.modules()[0].build_id, "00ff10");
  EXPECT_EQ(reader.modules()[0].base, 0x555555554000U);
  EXPECT_TRUE(reader.modules()[1].deleted);
  ASSERT_EQ(reader.processes().size(), 1U);
  EXPECT_EQ(reader.processes()[0].command, "demo --fast");
  ASSERT_EQ(reader.threads().size(), 2U);
  EXPECT_EQ(reader.threads()[1].id.tid, 4712);
  EXPECT_EQ(reader.threads()[1].name, "wor;ker");
  EXPECT_EQ(reader.threads()[1].process.pid, 4711);
  EXPECT_EQ(reader.threads()[1].start_ns, 4'712'000'000);

  const auto samples = samples_of(reader);
  ASSERT_EQ(samples.size(), 5U);
  EXPECT_EQ(samples[1].time_ns, 1'500'000'000);
  EXPECT_EQ(samples[1].thread, 0U);
  EXPECT_EQ(stack_of(reader, samples[1].node),
            (std::vector<std::string>{"main", "outer", "inner"}));
  EXPECT_EQ(samples[2].kind, core::SampleKind::blocked);
  EXPECT_EQ(samples[2].thread, 1U);
  EXPECT_EQ(stack_of(reader, samples[2].node),
            (std::vector<std::string>{"main", "[blocked: read]"}));
  const RecordingPlace& blocked = reader.places()[reader.nodes()[samples[2].node].place];
  EXPECT_EQ(blocked.kind, StepKind::blocked);
  EXPECT_EQ(reader.text(static_cast<std::uint32_t>(blocked.value)), "read");
  EXPECT_EQ(reader.nodes()[samples[3].node].parent, Profile::kPcOnlyRoot);
  EXPECT_EQ(stack_of(reader, samples[4].node), (std::vector<std::string>{"[truncated]", "?48"}));

  const RecordingSamples sum = reader.samples();
  EXPECT_EQ(sum.kept, 5U);
  EXPECT_EQ(sum.weight, 5U);
  EXPECT_EQ(sum.stride, 1U);
  EXPECT_EQ(sum.first_ns, 1'000'000'000);
  EXPECT_EQ(sum.last_ns, 4'000'000'000);
}

TEST(Recording, gives_back_names_lines_and_counts) {
  Read read(test::small_recording());
  RecordingReader& reader = read.reader;
  EXPECT_EQ(reader.facts(), "{\"name\": \"demo\"}");
  std::map<std::string, RecordingFunction> functions;
  for (const RecordingFunction& function : reader.functions()) {
    functions.emplace(function.name, function);
  }
  EXPECT_EQ(functions.at("inner").self, 3U);
  EXPECT_EQ(functions.at("inner").file, "/src/demo.c");
  EXPECT_EQ(functions.at("inner").line, 7U);
  EXPECT_EQ(functions.at("main").total, 3U);
  EXPECT_EQ(functions.at("main").module, "/usr/bin/demo");
  EXPECT_EQ(functions.at("main").kind, FunctionKind::executable);
  const auto sums = reader.sums();
  EXPECT_EQ(sums[samples_of(reader)[0].node], 2U);

  std::map<std::uint64_t, RecordingBlock> blocks;
  reader.for_each_block([&](const RecordingBlock& block) { blocks.emplace(block.offset, block); });
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks.at(0x10).hits, 3U);
  EXPECT_EQ(blocks.at(0x10).size, 8U);
  EXPECT_EQ(blocks.at(0x10).instructions, 4U);
  EXPECT_EQ(blocks.at(0x10).first_ns, 1'000'000'000);
  EXPECT_TRUE(blocks.at(0x10).span.is_whole());
  EXPECT_EQ(blocks.at(0x20).span, (CountedSpan{std::nullopt, second(7)}));
  EXPECT_EQ(blocks.at(0x20).line, 7U);
  EXPECT_EQ(reader.code().at(blocks.at(0x20).code).name, "outer");
  std::vector<RecordingEdge> edges;
  reader.for_each_edge([&](const RecordingEdge& edge) { edges.push_back(edge); });
  ASSERT_EQ(edges.size(), 1U);
  EXPECT_EQ(edges[0].from, 0x16U);
  EXPECT_EQ(edges[0].to, 0x20U);
  EXPECT_EQ(edges[0].hits, 3U);
  EXPECT_EQ(edges[0].flow, core::EdgeFlow::call);
}

TEST(Recording, of_a_killed_run_is_read_up_to_its_last_chunk) {
  RecordedBytes run;
  run.add(sample({0x20, 0x10}), 4711, 1);
  run.flush();
  run.add(sample({0x20, 0x10}), 4711, 2);  // it did not get to the file
  Read read(run.sink.text);
  EXPECT_FALSE(read.reader.header().finished);
  EXPECT_FALSE(read.reader.has_set());
  EXPECT_EQ(read.reader.facts(), "");
  EXPECT_EQ(read.reader.damage(), "");
  const auto samples = samples_of(read.reader);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(read.reader.sums()[samples[0].node], 1U);
  EXPECT_EQ(read.reader.places()[read.reader.nodes()[samples[0].node].place].value, 0x20U);
}

TEST(Recording, has_the_last_set_that_is_complete) {
  RecordedBytes run;
  test::TableNamer early;
  early.set({test::kProgram, 0x10}, "early");
  run.add(sample({0x10}), 4711, 1);
  run.write_set("one", early);
  run.add(sample({0x10}), 4711, 2);
  const std::size_t first = run.sink.text.size();
  test::TableNamer late;
  late.set({test::kProgram, 0x10}, "late");
  run.write_set("two", late);
  {
    Read read(run.sink.text);
    EXPECT_EQ(read.reader.facts(), "two");
    EXPECT_EQ(names_in(read.reader), "late");
  }
  Read cut(run.sink.text.substr(0, run.sink.text.size() - 8));
  EXPECT_EQ(cut.reader.facts(), "one");
  EXPECT_EQ(names_in(cut.reader), "early");
  EXPECT_EQ(samples_of(cut.reader).size(), 2U);
  EXPECT_EQ(cut.reader.sums().back(), 2U) << "the samples know more than the set";
  EXPECT_NE(cut.reader.damage(), "");
  EXPECT_GT(run.sink.text.size(), first);
}

TEST(Recording, keeps_samples_evenly_when_there_are_too_many) {
  constexpr std::uint64_t kMost = 100;
  RecordedBytes run(kMost);
  for (int i = 0; i < 1000; ++i) {
    run.add(sample({0x10}), 4711, i);
    if (i % 7 == 0) {
      run.flush();
    }
  }
  run.flush();
  Read read(run.sink.text);
  const auto samples = samples_of(read.reader);
  const RecordingSamples sum = read.reader.samples();
  EXPECT_EQ(sum.stride, 16U);
  ASSERT_EQ(samples.size(), 63U);  // 0, 16, .. 992
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].time_ns, static_cast<std::int64_t>(i) * 16'000'000'000);
  }
  EXPECT_LT(run.sink.text.size(), 200'000U);
}

TEST(Recording, keeps_a_thread_under_its_last_name) {
  RecordedBytes run;
  run.thread(4711, "sh");
  run.add(sample({0x10}), 4711, 1);
  run.flush();
  run.thread(4711, "gzip");
  run.flush();
  Read read(run.sink.text);
  ASSERT_EQ(read.reader.threads().size(), 1U);
  EXPECT_EQ(read.reader.threads()[0].name, "gzip");
}

TEST(Recording, cuts_texts_that_are_too_long) {
  RecordedBytes run;
  run.thread(4711, std::string(kLongestText + 5, 'n'));
  run.add(sample({0x10}), 4711, 1);
  run.flush();
  Read read(run.sink.text);
  EXPECT_EQ(read.reader.threads().at(0).name, std::string(kLongestText, 'n'));
}

}  // namespace
}  // namespace sp::profiler
