#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "arch/emulation.h"
#include "core/address.h"
#include "core/fd.h"

namespace sp::supervisor {

/// An address space through /proc/PID/mem, which ignores the protection of pages; private text is
/// copied on the first write. It stays the address space that the process had when it was opened,
/// even after an exec. Where that file cannot be opened (no descriptor is left), the memory of
/// `tid` by process_vm_readv(2) and, while the thread is in a ptrace stop, by PTRACE_POKEDATA.
class TargetMemory {
 public:
  /// `tid` is any live thread of the process.
  explicit TargetMemory(pid_t tid);

  /// Returns how many bytes could be read.
  [[nodiscard]] std::size_t read(core::Address from, std::span<std::byte> into) const;
  [[nodiscard]] bool write(core::Address to, std::span<const std::byte> bytes) const;

  /// The process has ended or executed another program.
  [[nodiscard]] bool is_gone() const;
  [[nodiscard]] bool is_open() const { return fd_.valid(); }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  pid_t tid_;
  core::UniqueFd fd_;
};

/// A thread's memory as its own instructions may access it: protection applies.
class ThreadMemory final : public arch::MemoryAccess {
 public:
  explicit ThreadMemory(pid_t tid) : tid_(tid) {}

  [[nodiscard]] bool read(core::Address from, std::span<std::byte> to) override;
  [[nodiscard]] bool write(core::Address to, std::span<const std::byte> from) override;

 private:
  pid_t tid_;
};

}  // namespace sp::supervisor
