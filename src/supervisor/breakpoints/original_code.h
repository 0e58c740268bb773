#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"
#include "core/mapping.h"
#include "core/page.h"
#include "supervisor/breakpoints/code_regions.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// The code of an address space without the breakpoints and the jumps to copies in it. Keeps a copy
/// of each file-backed page from before the first of them was written there. Runs on the ptrace
/// thread.
class OriginalCode {
 public:
  OriginalCode() = default;
  /// A forked child's: pages are shared with `parent`.
  OriginalCode(const OriginalCode& parent) = default;
  OriginalCode& operator=(const OriginalCode&) = delete;
  ~OriginalCode() = default;

  void set_maps(const std::vector<core::Mapping>& maps);
  /// What set_maps() said is out of date.
  void expire_maps() { maps_are_old_ = true; }
  [[nodiscard]] bool maps_are_old() const { return maps_are_old_; }
  [[nodiscard]] const CodeRegions& regions() const { return regions_; }

  /// The original bytes from an address on; returns how many there were.
  std::size_t fetch(const TargetMemory& memory, core::Address from, std::span<std::byte> into);
  /// One instruction, from its original bytes.
  [[nodiscard]] std::optional<core::Instruction> decode(const TargetMemory& memory,
                                                        core::Address address);
  /// fetch() reads nothing of the range from the target.
  [[nodiscard]] bool keeps(core::AddressRange range) const;
  /// Drops the pages that overlap a range: there may be other code now.
  void forget(core::AddressRange range);

 private:
  using Page = std::array<std::byte, core::kPageSize>;

  const Page* page(const TargetMemory& memory, core::Address address);

  CodeRegions regions_;
  bool maps_are_old_ = true;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Page>> pages_;
};

}  // namespace sp::supervisor
