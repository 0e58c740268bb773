#include "supervisor/linux/target_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "supervisor/linux/process_vm.h"

namespace sp::supervisor {
namespace {

/// Word by word. False where the thread is not stopped, or traced by another one of ours, or the
/// memory is not there.
bool poke(pid_t tid, core::Address to, std::span<const std::byte> bytes) {
  constexpr std::uint64_t kWord = sizeof(long);
  while (!bytes.empty()) {
    const std::uint64_t offset = to.value() % kWord;
    const std::size_t size = std::min<std::size_t>(kWord - offset, bytes.size());
    long word = 0;
    if (size < kWord &&
        copy_memory(tid, to - offset, std::as_writable_bytes(std::span(&word, 1))) < kWord) {
      return false;
    }
    std::memcpy(reinterpret_cast<std::byte*>(&word) + offset, bytes.data(), size);
    if (::ptrace(PTRACE_POKEDATA, tid, to.value() - offset, word) != 0) {
      return false;
    }
    to = to + size;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace

TargetMemory::TargetMemory(pid_t tid)
    : tid_(tid), fd_(::open(fmt::format("/proc/{}/mem", tid).c_str(), O_RDWR | O_CLOEXEC)) {}

std::size_t TargetMemory::read(core::Address from, std::span<std::byte> into) const {
  if (!is_open()) {
    return copy_memory(tid_, from, into);
  }
  const ssize_t got =
      ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(from.value()));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool TargetMemory::write(core::Address to, std::span<const std::byte> bytes) const {
  if (!is_open()) {
    return poke(tid_, to, bytes);
  }
  return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(to.value())) ==
         static_cast<ssize_t>(bytes.size());
}

/// Where there is memory, page 0 is not in it, which is an error.
bool TargetMemory::is_gone() const {
  std::byte none{};
  return is_open() && ::pread(fd_.get(), &none, 1, 0) == 0;
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
