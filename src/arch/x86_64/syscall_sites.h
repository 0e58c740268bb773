#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "arch/syscall_site.h"

namespace sp::arch::x86_64 {

/// The places in `text` where the number of one of `names` is loaded and its system call made, with
/// no transfer in between; by address.
[[nodiscard]] std::vector<SyscallSite> find_syscall_sites(std::span<const std::byte> text,
                                                          std::span<const std::string_view> names);

}  // namespace sp::arch::x86_64
