#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The container of recording.sp and trace.sp: a header, then chunks, each with its kind, its size
/// and its checksum. output/README.md has every byte.
namespace sp::profiler {

inline constexpr std::array<unsigned char, 8> kContainerMagic = {0x89, 'S',  'P',  'T',
                                                                 0x0D, 0x0A, 0x1A, 0x0A};
inline constexpr std::uint32_t kContainerVersion = 1;
inline constexpr std::size_t kContainerHeaderSize = 64;
inline constexpr std::size_t kContainerFlagsOffset = 48;
inline constexpr std::size_t kChunkHeaderSize = 24;
/// Chunks are written when they have this size; none holds more than kMostInChunk.
inline constexpr std::size_t kChunkSize = std::size_t{1} << 20U;
inline constexpr std::size_t kMostInChunk = std::size_t{1} << 24U;
inline constexpr std::size_t kLongestText = std::size_t{1} << 20U;

struct ContainerHeader {
  enum class Cpu : std::uint32_t { unknown, x86_64, aarch64 };

  std::uint64_t run_id = 0;       // random
  std::int64_t realtime_ns = 0;   // CLOCK_REALTIME at the run's start
  std::int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC at the same time: times count from here
  std::uint32_t pid = 0;          // of the first process
  Cpu cpu = Cpu::unknown;
  bool finished = false;
};

enum class ChunkKind : std::uint32_t {
  strings = 1,
  modules = 2,
  functions = 3,
  processes = 4,
  clocks = 5,  // of a trace
  events = 6,  // likewise
  stacks = 7,
  samples = 8,
  blocks = 9,
  edges = 10,
  facts = 11,  // run.json
  places = 12,
  names = 13,
  sums = 14,
  set_end = 15,
  code = 16,
  threads = 17,
  end = 18,  // the last one of a run that has finished
};

}  // namespace sp::profiler
