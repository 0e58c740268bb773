#include "supervisor/linux/target_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include "supervisor/linux/process_vm.h"

namespace sp::supervisor {

TargetMemory::TargetMemory(pid_t tid)
    : fd_(::open(fmt::format("/proc/{}/mem", tid).c_str(), O_RDWR | O_CLOEXEC)) {}

std::size_t TargetMemory::read(core::Address from, std::span<std::byte> into) const {
  const ssize_t got =
      ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(from.value()));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool TargetMemory::write(core::Address to, std::span<const std::byte> bytes) const {
  return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(to.value())) ==
         static_cast<ssize_t>(bytes.size());
}

bool ThreadMemory::read(core::Address from, std::span<std::byte> to) {
  return copy_memory(tid_, from, to) == to.size();
}

bool ThreadMemory::write(core::Address to, std::span<const std::byte> from) {
  // process_vm_writev(2) does not write to `from`.
  iovec local{const_cast<std::byte*>(from.data()), from.size()};  // NOLINT
  iovec remote{reinterpret_cast<void*>(to.value()), from.size()};
  return ::process_vm_writev(tid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(from.size());
}

}  // namespace sp::supervisor
