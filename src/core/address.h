#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sp::core {

/// A virtual address in a traced process, never a pointer of superprofiler's own.
class Address {
 public:
  constexpr Address() = default;
  constexpr explicit Address(std::uint64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const Address&) const = default;

  [[nodiscard]] constexpr Address operator+(std::uint64_t bytes) const {
    return Address{value_ + bytes};
  }
  [[nodiscard]] constexpr Address operator-(std::uint64_t bytes) const {
    return Address{value_ - bytes};
  }
  /// Distance in bytes; `other` must not be above this one.
  [[nodiscard]] constexpr std::uint64_t operator-(Address other) const {
    return value_ - other.value_;
  }

 private:
  std::uint64_t value_ = 0;
};

/// Half open: [begin, end).
struct AddressRange {
  Address begin;
  Address end;

  [[nodiscard]] constexpr bool contains(Address address) const {
    return begin <= address && address < end;
  }
  [[nodiscard]] constexpr std::uint64_t size() const { return end - begin; }
  constexpr auto operator<=>(const AddressRange&) const = default;
};

/// Identifies one module of a run (an ELF file, the vdso, one process's JIT code). The stage that
/// first meets the module assigns it; it is never reused within a run.
enum class ModuleId : std::uint32_t {};

/// An address that means the same in every process and on every machine: `offset` is the ELF
/// virtual address, which is what objdump prints. For code without a file (JIT) it is the address
/// in its process.
struct ModuleOffset {
  ModuleId module{};
  std::uint64_t offset = 0;

  constexpr auto operator<=>(const ModuleOffset&) const = default;
};

}  // namespace sp::core

template <>
struct std::hash<sp::core::Address> {
  std::size_t operator()(sp::core::Address address) const noexcept {
    return std::hash<std::uint64_t>{}(address.value());
  }
};

template <>
struct std::hash<sp::core::ModuleOffset> {
  std::size_t operator()(const sp::core::ModuleOffset& where) const noexcept {
    const auto module = static_cast<std::uint64_t>(where.module);
    return std::hash<std::uint64_t>{}(where.offset ^ (module * 0x9E3779B97F4A7C15ULL));
  }
};
