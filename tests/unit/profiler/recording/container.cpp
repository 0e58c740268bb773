#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/recording/compression.h"
#include "profiler/recording/container_reader.h"
#include "profiler/recording/container_writer.h"
#include "profiler/recording/crc32c.h"
#include "profiler/recording/payload.h"
#include "unit/profiler/recording/memory_sink.h"

namespace sp::profiler {
namespace {

using test::bytes_of;
using test::MemorySink;

TEST(Crc32c, has_the_values_of_rfc_3720) {
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8A9136AAU);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xFF'))), 0x62A8AB43U);
  std::string counting;
  for (char c = 0; c < 32; ++c) {
    counting += c;
  }
  EXPECT_EQ(crc32c(bytes_of(counting)), 0x46DD794EU);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(bytes_of("6789"), crc32c(bytes_of("12345"))), 0xE3069283U) << "continued";
}

TEST(Compression, gives_back_what_it_took) {
  const std::string text(100000, 'x');
  Compressor compressor;
  const auto frame = compressor.compress(bytes_of(text));
  ASSERT_FALSE(frame.empty());
  EXPECT_LT(frame.size(), 100U);
  const std::vector<std::byte> stored(frame.begin(), frame.end());
  Decompressor decompressor;
  const auto bytes = decompressor.decompress(stored, text.size());
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, std::vector<std::byte>(text.size(), std::byte{'x'}));
  EXPECT_FALSE(decompressor.decompress(stored, text.size() - 1)) << "more than is allowed";
  EXPECT_FALSE(decompressor.decompress(std::span(stored).first(stored.size() - 1), text.size()));
  EXPECT_TRUE(compressor.compress(bytes_of("short")).empty()) << "a frame would be longer";
}

TEST(Payload, ends_where_it_ends) {
  PayloadWriter out;
  out.u32(7);
  out.text("seven");
  out.u64(8);
  PayloadReader in(out.bytes());
  EXPECT_EQ(in.u32(), 7U);
  EXPECT_EQ(in.text(), "seven");
  EXPECT_EQ(in.column<std::uint64_t>(1), std::vector<std::uint64_t>{8});
  EXPECT_TRUE(in.ok());
  EXPECT_FALSE(in.has_more());
  EXPECT_EQ(in.u32(), 0U);
  EXPECT_FALSE(in.ok());
  PayloadReader long_text(out.bytes().subspan(4, 8));
  EXPECT_EQ(long_text.text(), "");
  EXPECT_FALSE(long_text.ok());
  PayloadReader long_column(out.bytes());
  EXPECT_TRUE(long_column.column<std::uint64_t>(std::uint64_t{1} << 61U).empty());
  EXPECT_FALSE(long_column.ok());
}

/// A container of three chunks, the second one compressed.
std::string three_chunks() {
  MemorySink sink;
  ContainerWriter writer(sink);
  ContainerHeader header;
  header.run_id = 0x1122334455667788;
  header.realtime_ns = 1'700'000'000'000'000'000;
  header.monotonic_ns = 5'000'000'000;
  header.pid = 4711;
  header.cpu = ContainerHeader::Cpu::aarch64;
  EXPECT_TRUE(writer.begin(header));
  EXPECT_TRUE(writer.add(ChunkKind::strings, 0, bytes_of("first")));
  EXPECT_TRUE(writer.add(ChunkKind::facts, 3, bytes_of(std::string(1000, 'y'))));
  EXPECT_TRUE(writer.add(ChunkKind::strings, 0, bytes_of("third")));
  EXPECT_TRUE(writer.finish());
  return sink.text;
}

struct Content {
  std::string strings;
  std::size_t facts = 0;
  std::string problem;
};

Content content_of(const std::string& file) {
  std::istringstream in(file);
  auto reader = ContainerReader::open(in, "x.sp");
  if (!reader) {
    return {"", 0, reader.error().message()};
  }
  Content content;
  reader->for_each(ChunkKind::strings, 0, [&](std::span<const std::byte> payload) {
    for (const std::byte byte : payload) {
      content.strings += static_cast<char>(byte);
    }
    return true;
  });
  reader->for_each(ChunkKind::facts, 3, [&](std::span<const std::byte> payload) {
    content.facts += payload.size();
    return true;
  });
  content.problem = reader->damage();
  return content;
}

TEST(Container, has_the_bytes_that_are_documented) {
  const std::string file = three_chunks();
  EXPECT_EQ(file.substr(0, 16), std::string("\x89SPT\r\n\x1a\n\x01\0\0\0\x40\0\0\0", 16));
  EXPECT_EQ(file.substr(16, 8), "\x88\x77\x66\x55\x44\x33\x22\x11");
  EXPECT_EQ(file.substr(40, 16), std::string("\x67\x12\0\0\2\0\0\0\1\0\0\0\0\0\0\0", 16));
  // The first chunk: kind 1, not compressed, 5 bytes, and padding behind them.
  EXPECT_EQ(file.substr(64, 16), std::string("\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(file.substr(84, 12), std::string("\0\0\0\0first\0\0\0", 12));
  EXPECT_EQ(file.substr(96, 8), std::string("\x0b\0\0\0\1\0\0\0", 8));
  EXPECT_EQ(file.size() % 8, 0U);
}

TEST(Container, is_read_as_it_was_written) {
  const std::string file = three_chunks();
  const Content content = content_of(file);
  EXPECT_EQ(content.strings, "firstthird");
  EXPECT_EQ(content.facts, 1000U);
  EXPECT_EQ(content.problem, "");
  std::istringstream in(file);
  const auto reader = ContainerReader::open(in, "x.sp");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().run_id, 0x1122334455667788U);
  EXPECT_EQ(reader->header().realtime_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(reader->header().monotonic_ns, 5'000'000'000);
  EXPECT_EQ(reader->header().pid, 4711U);
  EXPECT_EQ(reader->header().cpu, ContainerHeader::Cpu::aarch64);
  EXPECT_TRUE(reader->header().finished);
  EXPECT_EQ(reader->chunks().size(), 4U) << "three and the end";
}

TEST(Container, that_is_cut_is_read_up_to_there_wherever_it_is_cut) {
  const std::string file = three_chunks();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Content content = content_of(file.substr(0, size));
    EXPECT_NE(content.problem, "") << size;
    const bool has_third = size >= file.size() - kChunkHeaderSize;
    EXPECT_EQ(content.strings, has_third ? "firstthird" : size >= 96 ? "first" : "") << size;
  }
  EXPECT_EQ(content_of(file.substr(0, 90)).problem, "x.sp is cut at byte 64");
  EXPECT_EQ(content_of(file.substr(0, 96)).problem, "x.sp is cut at byte 96") << "between chunks";
  EXPECT_EQ(content_of(file.substr(0, 60)).problem, "x.sp is not a recording of superprofiler's");
}

TEST(Container, tells_each_byte_that_was_changed) {
  const std::string file = three_chunks();
  for (std::size_t at = 0; at < file.size(); ++at) {
    if (at >= kContainerFlagsOffset && at < kContainerFlagsOffset + 8) {
      continue;  // the flags change when the run ends
    }
    if (at >= 60 && at < 64) {
      continue;  // reserved
    }
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = file;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1U << bit));
      EXPECT_NE(content_of(bad).problem, "") << at << " " << bit;
    }
  }
}

TEST(Container, of_a_later_version_is_not_guessed_at) {
  // The version is checked only if the checksum says that it is not damage.
  EXPECT_EQ(content_of("\x89PNG\r\n\x1a\n" + std::string(100, ' ')).problem,
            "x.sp is not a recording of superprofiler's");
  std::string later = three_chunks();
  later[8] = 2;
  const std::uint32_t crc = crc32c(bytes_of(later).first(48));
  for (std::size_t i = 0; i < 4; ++i) {
    later[56 + i] = static_cast<char>(crc >> (8 * i));
  }
  EXPECT_EQ(content_of(later).problem, "x.sp is of a later superprofiler: read it with that one");
}

TEST(Container, is_complete_up_to_the_chunk_that_did_not_fit) {
  MemorySink sink;
  sink.room = 64 + 32;
  ContainerWriter writer(sink);
  ASSERT_TRUE(writer.begin({}));
  ASSERT_TRUE(writer.add(ChunkKind::strings, 0, bytes_of("first")));
  const auto failed = writer.add(ChunkKind::strings, 0, bytes_of("second"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ENOSPC);
  EXPECT_EQ(content_of(sink.text).strings, "first");
  EXPECT_EQ(content_of(sink.text).problem, "");
}

}  // namespace
}  // namespace sp::profiler
