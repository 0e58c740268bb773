#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "core/address.h"
#include "core/fd.h"
#include "core/result.h"

namespace sp::supervisor {

/// A stopped thread that makes system calls for us, and where (see remote_syscall()).
struct RemoteCaller {
  pid_t tid = 0;
  core::Address place;
  bool trap_is_served = false;
};

/// The name that our files in memory have in /proc/PID/maps.
inline constexpr std::string_view kMemoryName = "superprofiler";

/// remote_syscall(), where a negative errno of the kernel's is an error, too.
[[nodiscard]] core::Result<std::uint64_t> call_in_target(const RemoteCaller& caller,
                                                         std::string_view doing, long number,
                                                         std::uint64_t a, std::uint64_t b = 0,
                                                         std::uint64_t c = 0, std::uint64_t d = 0,
                                                         std::uint64_t e = 0, std::uint64_t f = 0);

/// A file in memory that the target has made and that we have opened, too: so the target's memory
/// is charged for it, and a mapping there may be executable where an anonymous one may not
/// (SELinux). The target must not run before `in_target` is closed: it would see the descriptor.
struct MemoryFile {
  core::UniqueFd ours;
  std::uint64_t in_target = 0;
};
enum class MemoryUse { data, code };
[[nodiscard]] core::Result<MemoryFile> make_memory_file(const RemoteCaller& caller, MemoryUse use);
void close_in_target(const RemoteCaller& caller, const MemoryFile& file);

/// Maps fresh memory at `at`, or anywhere if `flags` do not say MAP_FIXED_NOREPLACE, and keeps it
/// out of core files. The memory of a file if there is one.
struct RemoteMapping {
  core::Address at;
  std::uint64_t size = 0;
  int protection = 0;
  int flags = 0;
  std::uint64_t fd = ~std::uint64_t{0};
  std::uint64_t offset = 0;
};
[[nodiscard]] core::Result<core::Address> map_in_target(const RemoteCaller& caller,
                                                        const RemoteMapping& mapping);
void unmap_in_target(const RemoteCaller& caller, core::AddressRange range);

}  // namespace sp::supervisor
