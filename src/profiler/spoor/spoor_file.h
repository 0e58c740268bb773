#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

/// Files that programs write which Spoor's compiler pass has instrumented: one for each flush of a
/// thread's buffer.
namespace sp::profiler {

inline constexpr std::size_t kSpoorHeaderSize = 64;
inline constexpr std::size_t kSpoorEventSize = 24;

struct SpoorHeader {
  std::uint64_t run_id = 0;
  std::int64_t process = 0;
  std::uint64_t thread = 0;  // a hash of the id of the thread that flushed
  std::int64_t system_ns = 0;
  std::int64_t steady_ns = 0;  // read with system_ns, at the flush
};

struct SpoorEvent {
  static constexpr std::uint32_t kEntry = 1;
  static constexpr std::uint32_t kExit = 2;

  std::int64_t steady_ns = 0;
  std::uint64_t function = 0;  // its id, of entries and exits
  std::uint32_t type = 0;      // with the top bit: an event of the program's own
};

struct SpoorFile {
  SpoorHeader header;
  std::vector<SpoorEvent> events;
  std::string damage;  // what is missing or odd; "": nothing
};

/// The bytes begin as a trace of Spoor's.
[[nodiscard]] bool is_spoor_trace(std::span<const std::byte> bytes);

/// `name` is for messages. Of a file that is cut the events before the cut are read. Errors: it has
/// no whole header, is of an unknown version or compression, or its block of snappy is damaged.
[[nodiscard]] core::Result<SpoorFile> read_spoor_file(std::span<const std::byte> bytes,
                                                      const std::string& name);

}  // namespace sp::profiler
