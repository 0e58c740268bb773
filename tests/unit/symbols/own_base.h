#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace sp::test {

/// What was added to the addresses of the test program's file.
inline std::uint64_t own_base() {
  std::uint64_t base = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the first one is the program
      },
      &base);
  return base;
}

}  // namespace sp::test
