// Recordings with any damage are read without a crash and in bounded memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>

#include "profiler/recording/payload.h"
#include "profiler/recording/recording_reader.h"
#include "unit/profiler/recording/container_parts.h"
#include "unit/profiler/recording/recorded_bytes.h"

namespace sp::profiler {
namespace {

/// Asks for all that a recording has; returns how many samples and rows there are.
std::uint64_t read_all(const std::string& bytes) {
  std::istringstream in(bytes);
  auto reader = RecordingReader::open(in, "recording.sp");
  if (!reader) {
    return 0;
  }
  std::uint64_t seen = 0;
  reader->for_each_sample([&](const RecordingSample& sample) {
    ++seen;
    for (std::uint32_t node = sample.node; node > Profile::kPcOnlyRoot;
         node = reader->nodes()[node].parent) {
      const std::uint32_t place = reader->nodes()[node].place;
      (void)reader->module(reader->places()[place].module);
      for (const RecordingName& name : reader->names_of(place)) {
        seen += reader->functions()[name.function].name.empty() ? 0 : 1;
      }
    }
  });
  seen += reader->samples().kept + reader->sums().size() + reader->facts().size();
  reader->for_each_block([&](const RecordingBlock& block) {
    seen += reader->code()[block.code].name.size() + block.file.size();
  });
  reader->for_each_edge([&](const RecordingEdge&) { ++seen; });
  for (const RecordingThread& thread : reader->threads()) {
    seen += thread.name.size();
  }
  return seen;
}

TEST(DamagedRecording, is_read_wherever_it_is_cut) {
  const std::string good = test::small_recording();
  const std::uint64_t all = read_all(good);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_LE(read_all(good.substr(0, size)), all) << size;
  }
}

TEST(DamagedRecording, is_read_whichever_byte_is_changed) {
  const std::string good = test::small_recording();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      (void)read_all(bad);
    }
  }
}

TEST(DamagedRecording, is_read_even_if_its_checksums_are_right) {
  const std::string good = test::small_recording();
  const test::ContainerParts parts = test::parts_of(good);
  ASSERT_GT(parts.chunks.size(), 10U);
  EXPECT_EQ(read_all(test::joined(parts)), read_all(good));
  constexpr std::uint32_t kValues[] = {0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
  for (std::size_t i = 0; i < parts.chunks.size(); ++i) {
    const std::size_t size = parts.chunks[i].second.size();
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= size; ++at) {
      for (const std::uint32_t value : kValues) {
        test::ContainerParts bad = parts;
        std::memcpy(bad.chunks[i].second.data() + at, &value, sizeof(value));
        (void)read_all(test::joined(bad));
      }
    }
    for (std::size_t cut = 0; cut < size; ++cut) {
      test::ContainerParts bad = parts;
      bad.chunks[i].second.resize(cut);
      (void)read_all(test::joined(bad));
    }
  }
}

TEST(DamagedRecording, is_read_with_its_chunks_in_any_order_and_number) {
  const test::ContainerParts parts = test::parts_of(test::small_recording());
  std::mt19937_64 random(18);
  for (int round = 0; round < 3000; ++round) {
    test::ContainerParts bad = parts;
    for (std::uint64_t change = 0; change < 1 + random() % 4; ++change) {
      const std::size_t from = random() % bad.chunks.size();
      const std::size_t to = random() % bad.chunks.size();
      switch (random() % 4) {
        case 0:
          std::swap(bad.chunks[from], bad.chunks[to]);
          break;
        case 1:
          bad.chunks.push_back(bad.chunks[from]);
          break;
        case 2:
          bad.chunks[from].first.kind = static_cast<std::uint32_t>(random() % 20);
          break;
        default:
          bad.chunks[from].first.set = static_cast<std::uint32_t>(random() % 3);
          break;
      }
    }
    (void)read_all(test::joined(bad));
  }
}

TEST(DamagedRecording, does_not_get_memory_because_it_says_so) {
  test::MemorySink sink;
  ContainerWriter writer(sink);
  ASSERT_TRUE(writer.begin({}));
  PayloadWriter places;
  places.u32(0);
  places.u32(0xFFFFFFFF);
  ASSERT_TRUE(writer.add(ChunkKind::places, 0, places.bytes()));
  // Each of these chunks is small, and 16 MiB when it is read.
  const std::string zeros(kMostInChunk, '\0');
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(writer.add(ChunkKind::threads, 0, test::bytes_of(zeros)));
    ASSERT_TRUE(writer.add(ChunkKind::modules, 0, test::bytes_of(zeros)));
    ASSERT_TRUE(writer.add(ChunkKind::processes, 0, test::bytes_of(zeros)));
  }
  EXPECT_LT(sink.text.size(), 200'000U);
  std::istringstream in(sink.text);
  auto reader = RecordingReader::open(in, "recording.sp");
  ASSERT_TRUE(reader);
  EXPECT_NE(reader->damage(), "");
  EXPECT_TRUE(reader->places().empty());
  EXPECT_LE(reader->modules().size(), 1U);
  EXPECT_LE(reader->processes().size(), Profile::kMaxProcesses + 1);
}

}  // namespace
}  // namespace sp::profiler
