#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/bytes.h"

/// The numbers and texts of a chunk, little-endian, without padding.
namespace sp::profiler {

static_assert(std::endian::native == std::endian::little);

class PayloadWriter {
 public:
  template <typename Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    const auto* const from = static_cast<const std::byte*>(static_cast<const void*>(&value));
    bytes_.insert(bytes_.end(), from, from + sizeof(value));
  }
  void u32(std::uint32_t value) { number(value); }
  void u64(std::uint64_t value) { number(value); }
  /// A u32 with the length, then the bytes.
  void text(std::string_view text) {
    u32(static_cast<std::uint32_t>(text.size()));
    const auto* const from = static_cast<const std::byte*>(static_cast<const void*>(text.data()));
    bytes_.insert(bytes_.end(), from, from + text.size());
  }
  template <typename Number>
  void column(std::span<const Number> values) {
    const std::span<const std::byte> from = std::as_bytes(values);
    bytes_.insert(bytes_.end(), from.begin(), from.end());
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads in the same order. Behind the end numbers are 0 and texts empty, and ok() is false.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  [[nodiscard]] Number number() {
    const auto value = core::read_at<Number>(bytes_, at_);
    at_ += sizeof(Number);
    ok_ = ok_ && value.has_value();
    return value.value_or(Number{});
  }
  [[nodiscard]] std::uint32_t u32() { return number<std::uint32_t>(); }
  [[nodiscard]] std::uint64_t u64() { return number<std::uint64_t>(); }
  [[nodiscard]] std::string_view text() {
    const std::span<const std::byte> text = take(u32());
    return {static_cast<const char*>(static_cast<const void*>(text.data())), text.size()};
  }
  /// The next `count` numbers; empty if there are fewer.
  template <typename Number>
  [[nodiscard]] std::vector<Number> column(std::uint64_t count) {
    if (!ok_ || count > (bytes_.size() - at_) / sizeof(Number)) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> from = take(count * sizeof(Number));
    std::vector<Number> values(count);
    if (!from.empty()) {
      std::memcpy(values.data(), from.data(), from.size());
    }
    return values;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  /// There is something behind what was read.
  [[nodiscard]] bool has_more() const { return ok_ && at_ < bytes_.size(); }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t at_ = 0;
  bool ok_ = true;
};

}  // namespace sp::profiler
