#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbols/fde_bounds.h"

namespace sp::symbols {

/// Reads values of the exception frame sections; runs dry instead of leaving its bytes.
class FrameReader {
 public:
  /// `address` is where `bytes` lie in memory.
  FrameReader(std::span<const std::byte> bytes, std::uint64_t address)
      : bytes_(bytes), address_(address) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::uint64_t address() const { return address_ + at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  /// All answer 0 once the bytes have run out.
  template <typename T>
  T take();
  std::uint64_t take_uleb();
  /// A value in a DW_EH_PE_* encoding; `data_base` is what DW_EH_PE_datarel counts from. Indirect
  /// and function-relative ones fail.
  std::uint64_t take_encoded(std::uint8_t encoding, std::uint64_t data_base);
  void skip(std::uint64_t bytes);

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t address_ = 0;
  std::size_t at_ = 0;
  bool failed_ = false;
};

/// One record of .eh_frame.
struct FrameRecord {
  std::uint64_t next = 0;  // address of the record behind; 0 at the terminator or past the end
  std::optional<CodeRange> covers;  // an FDE's code; nothing for a CIE or a damaged record
};

/// The record at `address`; `bytes_at` gives the bytes from an address to the end of what is
/// mapped there.
[[nodiscard]] FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address);

}  // namespace sp::symbols
