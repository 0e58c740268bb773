#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbols/fde_bounds.h"

namespace sp::symbols {

/// Reads values of the exception frame sections; fails at the end of its bytes.
class FrameReader {
 public:
  /// `address` is the address of `bytes` in memory.
  FrameReader(std::span<const std::byte> bytes, std::uint64_t address)
      : bytes_(bytes), address_(address) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::uint64_t address() const { return address_ + at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  /// All return 0 once the bytes are exhausted.
  template <typename T>
  T take();
  std::uint64_t take_uleb();
  /// A value in a DW_EH_PE_* encoding; `data_base` is the base of DW_EH_PE_datarel. Indirect and
  /// function-relative encodings fail.
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
  /// Of a signal trampoline: glibc and Linux let its FDE begin one byte before the code, because
  /// unwinders look up one byte before a return address.
  bool is_signal_frame = false;
  /// At its first instruction the stack is not as a call leaves it: it is a part of a function,
  /// which has jumped there.
  bool begins_in_frame = false;
};

/// A CIE's encodings for its FDEs.
struct FrameEncodings {
  std::uint8_t address = 0;              // DW_EH_PE_* of the code's address
  std::optional<std::uint8_t> handlers;  // of the LSDA's; nothing where FDEs have none
  bool has_augmentation = false;
  bool is_signal_frame = false;
};

/// By address: a CIE is parsed once for many FDEs.
using FrameEncodingsCache = std::unordered_map<std::uint64_t, std::optional<FrameEncodings>>;

/// The record at `address`.
[[nodiscard]] FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address);
[[nodiscard]] FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address,
                                            FrameEncodingsCache& cache);

/// The landing pads of the LSDA at `handlers` (Itanium C++ ABI, "Exception Handling Tables"), of
/// the function that begins at `function`. If the table is damaged, those read up to there.
[[nodiscard]] std::vector<std::uint64_t> read_landing_pads(const core::ElfImage& image,
                                                           std::uint64_t handlers,
                                                           std::uint64_t function);

}  // namespace sp::symbols
