#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "commands/annotate/listing.h"

namespace sp::annotate {

/// Disassembles with Capstone; takes lengths from superprofiler's decoder, which knows instructions
/// that are newer than Capstone.
class Disassembler {
 public:
  /// `machine` is e_machine of elf(5). Nothing is decoded for unknown machines.
  explicit Disassembler(std::uint16_t machine);
  Disassembler(Disassembler&&) noexcept;
  Disassembler& operator=(Disassembler&&) noexcept;
  ~Disassembler();

  [[nodiscard]] const Decode& decode() const { return decode_; }
  /// The length of the shortest instruction, in bytes.
  [[nodiscard]] std::uint8_t unit() const { return unit_; }
  /// "mov rbp, rsp"; ".byte 0x62, 0xf1" if Capstone does not know the instruction or finds another
  /// length.
  [[nodiscard]] std::string text(std::span<const std::byte> bytes, std::uint64_t address) const;

 private:
  struct Capstone;
  Decode decode_;
  std::uint8_t unit_ = 1;
  std::unique_ptr<Capstone> capstone_;
};

/// ".byte 0x0f, 0x0b"
[[nodiscard]] std::string byte_text(std::span<const std::byte> bytes);

}  // namespace sp::annotate
