#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/mapping.h"
#include "core/result.h"
#include "supervisor/copies/remote_memory.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// Executable memory for the copies of a module's functions, within reach of the whole module, text
/// and data. Mapped read-only for the target and left out of core files; written through
/// /proc/PID/mem. It grows by regions, which stay mapped until unmap(). Runs on the ptrace thread.
class CopyRegion {
 public:
  /// `module`: from the first to the last address that it is mapped at. `text`: bytes of code.
  CopyRegion(core::AddressRange module, std::uint64_t text) : module_(module), text_(text) {}

  /// Takes room for `size` bytes; `alignment` is a power of 2. Nothing if there is none: grow().
  [[nodiscard]] std::optional<core::Address> allocate(std::uint64_t size, std::uint64_t alignment);
  /// Gives back what allocate() has given, or a part of it. No thread may be in it.
  void free(core::AddressRange range);
  /// Maps a further region of at least `size` bytes: as much as twice the text, if there are as
  /// many addresses. Errors: ENOMEM, there is no gap within reach, or no memory; EACCES, neither
  /// anonymous memory nor a file in memory may be executed there.
  [[nodiscard]] core::Result<void> grow(const RemoteCaller& caller, std::uint64_t size);

  [[nodiscard]] bool contains(core::Address pc) const;
  [[nodiscard]] const std::vector<core::AddressRange>& regions() const { return regions_; }
  /// Bytes that are mapped, and of those in use.
  [[nodiscard]] std::uint64_t mapped() const;
  [[nodiscard]] std::uint64_t used() const;

  /// Unmaps all regions from the caller's address space: the target's when no thread is in them, or
  /// a forked child's.
  void unmap(const RemoteCaller& caller) const;

 private:
  core::Result<void> map(const RemoteCaller& caller, core::AddressRange at);

  core::AddressRange module_;
  std::uint64_t text_;
  std::vector<core::AddressRange> regions_;
  std::vector<core::AddressRange> free_;  // by address, no two of them adjacent
};

/// A gap of `size` bytes between mappings from everywhere in which everything in `module` is within
/// reach, and the other way round: the nearest below the module, else the farthest above it, away
/// from a heap that grows.
[[nodiscard]] std::optional<core::AddressRange> find_copy_gap(
    const std::vector<core::Mapping>& maps, core::AddressRange module, std::uint64_t size);

}  // namespace sp::supervisor
