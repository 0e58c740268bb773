#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/mapping.h"
#include "supervisor/unwinding/module_table.h"

namespace sp::supervisor {

/// Executable memory of a process.
struct CodeRegion {
  core::AddressRange range;
  CodeModule* module = nullptr;     // find() makes sure that there is one
  std::uint64_t bias = 0;           // address in the process minus ELF address; 0 without a file
  std::span<const std::byte> code;  // the file's bytes from range.begin on; empty without a file

  [[nodiscard]] std::uint64_t elf_address(core::Address address) const {
    return address.value() - bias;
  }
  [[nodiscard]] std::span<const std::byte> code_from(core::Address address) const;
  [[nodiscard]] std::span<const std::byte> code_before(core::Address address) const;
};

struct RefreshOptions {
  /// At most how often /proc/PID/maps is read while addresses come up that are in no known code.
  core::Duration after_miss = std::chrono::milliseconds(10);
  /// How often it is read anyway: a library may have been unloaded and another loaded in its place.
  core::Duration period = std::chrono::milliseconds(500);
};

/// Which code is where in one process. Reads /proc/PID/maps again by itself when asked for code
/// that it does not know.
class AddressSpace {
 public:
  AddressSpace(ModuleTable& modules, core::ProcessId process, RefreshOptions options);

  /// Takes a snapshot of this process's maps. `tid` is a thread that was alive when they were read:
  /// a leader that has ended shows no files. `is_followed`: core::MappingSnapshot.
  void set_maps(std::vector<core::Mapping> maps, pid_t tid, bool is_followed = false);
  /// A forked child starts with its parent's memory.
  void inherit(const AddressSpace& parent);
  /// To be called before a stack is unwound; `tid` is a live thread of the process.
  void begin_sample(pid_t tid, core::TimePoint now);

  /// The code at an address; null if there is none. Valid until the next call that is not const.
  const CodeRegion* find(core::Address address);
  /// The same by the last snapshot that is followed, or, for code of no file that it does not have,
  /// by the last maps; reads none. What was counted before a library came or went is told before
  /// the next snapshot, but what /proc shows may be newer.
  const CodeRegion* find_mapped(core::Address address);
  /// The address of a module offset; nothing if it is in no known code of the module.
  [[nodiscard]] std::optional<core::Address> address_of(core::ModuleOffset where) const;
  /// The mapping of any kind that contains the address, as far as known.
  [[nodiscard]] const core::Mapping* mapping_at(core::Address address) const;

 private:
  static CodeRegion* find_in(std::vector<CodeRegion>& regions, core::Address address);
  CodeRegion* find_known(core::Address address) { return find_in(regions_, address); }
  const CodeRegion* with_module(CodeRegion* region);
  void refresh();
  bool rebuild(std::vector<core::Mapping> maps, bool may_be_another);
  CodeRegion region_of(const core::Mapping& mapping, const std::vector<core::Mapping>& maps);

  ModuleTable& modules_;
  RefreshOptions options_;
  ProcessFiles files_;
  bool root_known_ = false;
  bool inherited_ = false;
  std::string maps_text_;
  std::vector<core::Mapping> maps_;
  std::vector<CodeRegion> regions_;
  std::vector<CodeRegion> told_;  // at the last snapshot that is followed
  CodeModule* jit_ = nullptr;
  core::TimePoint now_{};
  std::optional<core::TimePoint> refreshed_;
};

}  // namespace sp::supervisor
