#include "profiler/recording/chunk_stream.h"

namespace sp::profiler {
namespace {

/// Bounds the memory for texts that are not to be written twice.
constexpr std::size_t kMostKnown = std::size_t{1} << 16U;

}  // namespace

std::uint32_t StringStream::number(std::string_view text) {
  if (numbers_.size() >= kMostKnown) {
    numbers_.clear();
  }
  const auto [place, is_new] = numbers_.try_emplace(std::string(text), next_);
  return is_new ? add(text) : place->second;
}

std::uint32_t StringStream::add(std::string_view text) {
  texts_.text(text.substr(0, kLongestText));
  return next_++;
}

core::Result<void> StringStream::flush() {
  if (first_ == next_) {
    return {};
  }
  PayloadWriter payload;
  payload.u32(first_);
  payload.u32(next_ - first_);
  payload.column(texts_.bytes());
  if (auto written = to_.add(ChunkKind::strings, set_, payload.bytes()); !written) {
    return written;
  }
  first_ = next_;
  texts_.clear();
  return {};
}

core::Result<void> RowStream::flush() {
  if (auto written = strings_.flush(); !written || rows_.empty()) {
    return written;
  }
  auto written = to_.add(kind_, set_, rows_.bytes());
  rows_.clear();
  return written;
}

}  // namespace sp::profiler
