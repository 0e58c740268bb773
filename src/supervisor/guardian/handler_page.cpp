#include "supervisor/guardian/handler_page.h"

#include <unistd.h>

#include <cstddef>
#include <span>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using Rescue = arch::NativeTrapHandler::Rescue;

void write_code(const SpaceMemory& memory, std::uint64_t superprofiler, std::size_t at,
                std::span<const std::byte> code) {
  std::uint64_t owner = 0;
  if (memory.handler != 0 &&
      ::pread(memory.descriptor, &owner, sizeof owner,
              static_cast<off_t>(memory.handler + Rescue::kOwner)) ==
          static_cast<ssize_t>(sizeof owner) &&
      owner == superprofiler) {
    [[maybe_unused]] const ssize_t written = ::pwrite(memory.descriptor, code.data(), code.size(),
                                                      static_cast<off_t>(memory.handler + at));
  }
}

}  // namespace

void disarm_handler(const SpaceMemory& memory, std::uint64_t superprofiler) {
  write_code(memory, superprofiler, Rescue::kDisarmedAt, Rescue::kDisarmed);
}

void set_patience(const SpaceMemory& memory, std::uint64_t superprofiler, bool patient) {
  write_code(memory, superprofiler, Rescue::kPatienceAt,
             patient ? Rescue::kPatient : Rescue::kImpatient);
}

}  // namespace sp::supervisor
