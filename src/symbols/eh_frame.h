#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

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
  std::uint64_t handlers = 0;       // address of its language specific data (LSDA); 0: none
  /// Of a signal's return path: glibc and Linux let the FDE begin one byte before the code, because
  /// unwinders look up one byte before a return address.
  bool is_signal_frame = false;
};

/// What a CIE says of its FDEs.
struct FrameEncodings {
  std::uint8_t address = 0;              // DW_EH_PE_* of the code's address
  std::optional<std::uint8_t> handlers;  // of the LSDA's; nothing where FDEs have none
  bool has_augmentation = false;
  bool is_signal_frame = false;
};

/// By address; so that a CIE is read once where many records are.
using FrameEncodingsCache = std::unordered_map<std::uint64_t, std::optional<FrameEncodings>>;

/// The record at `address`.
[[nodiscard]] FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address);
[[nodiscard]] FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address,
                                            FrameEncodingsCache& cache);

/// Where control comes in when an exception is caught or passes by (Itanium C++ ABI, "Exception
/// Handling Tables"): the landing pads of the LSDA at `handlers`, whose function begins at
/// `function`. Those that were read before something damaged.
[[nodiscard]] std::vector<std::uint64_t> read_landing_pads(const core::ElfImage& image,
                                                           std::uint64_t handlers,
                                                           std::uint64_t function);

}  // namespace sp::symbols
