#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/result.h"
#include "profiler/recording/container_writer.h"
#include "profiler/recording/payload.h"

namespace sp::profiler {

/// The texts of a set, or of the run itself: written once, and known by their number from then on.
class StringStream {
 public:
  StringStream(ContainerWriter& to, std::uint32_t set) : to_(to), set_(set) {}

  /// For texts that come often: the number is that of an equal text if that is still known.
  [[nodiscard]] std::uint32_t number(std::string_view text);
  /// For texts that come once. What is behind kLongestText bytes is cut off.
  [[nodiscard]] std::uint32_t add(std::string_view text);
  [[nodiscard]] core::Result<void> flush();
  [[nodiscard]] bool is_due() const { return texts_.size() >= kChunkSize; }

 private:
  ContainerWriter& to_;
  const std::uint32_t set_;
  PayloadWriter texts_;
  std::uint32_t first_ = 0;  // of texts_
  std::uint32_t next_ = 0;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// The rows of one kind, in as many chunks as they need. Their texts stand before them.
class RowStream {
 public:
  RowStream(ContainerWriter& to, ChunkKind kind, std::uint32_t set, StringStream& strings)
      : to_(to), kind_(kind), set_(set), strings_(strings) {}

  [[nodiscard]] PayloadWriter& row() { return rows_; }
  /// To be called behind each row.
  [[nodiscard]] core::Result<void> end_row() {
    return rows_.size() >= kChunkSize || strings_.is_due() ? flush() : core::Result<void>();
  }
  [[nodiscard]] core::Result<void> flush();

 private:
  ContainerWriter& to_;
  const ChunkKind kind_;
  const std::uint32_t set_;
  StringStream& strings_;
  PayloadWriter rows_;
};

}  // namespace sp::profiler
