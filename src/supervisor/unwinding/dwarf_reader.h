#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace sp::supervisor {

/// Reads the encodings of DWARF call frame information from bytes that start at an ELF virtual
/// address. A read past the end gives 0 and makes ok() false; nothing throws.
class DwarfReader {
 public:
  DwarfReader(std::span<const std::byte> bytes, std::uint64_t address)
      : bytes_(bytes), address_(address) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::uint64_t address() const { return address_ + at_; }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

  template <typename T>
  T take() {
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  void skip(std::uint64_t count);
  std::uint64_t take_uleb();
  std::int64_t take_sleb();
  std::string_view take_string();
  /// A pointer in one of the DW_EH_PE_* encodings (LSB, "Exception Frames"): absolute, relative to
  /// its own address, or to `data_base`. For indirect ones, the address of the pointer. Nothing for
  /// DW_EH_PE_omit and unknown encodings.
  std::optional<std::uint64_t> take_pointer(std::uint8_t encoding, std::uint64_t data_base);

 private:
  void fail() {
    ok_ = false;
    at_ = bytes_.size();
  }

  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// DW_EH_PE_* that are used by name.
inline constexpr std::uint8_t kPointerAbsolute = 0x00;
inline constexpr std::uint8_t kPointerUnsigned4 = 0x03;
inline constexpr std::uint8_t kPointerSigned4 = 0x0b;
inline constexpr std::uint8_t kPointerDataRelative = 0x30;
inline constexpr std::uint8_t kPointerOmitted = 0xff;

}  // namespace sp::supervisor
