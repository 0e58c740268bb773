#include "supervisor/copies/remote_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "arch/native.h"
#include "supervisor/injection/remote_syscall.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

// linux/memfd.h, Linux 6.3; earlier kernels refuse them.
constexpr std::uint64_t kNoExecSeal = 0x8;
constexpr std::uint64_t kExec = 0x10;
constexpr std::uint64_t kCloseOnExec = 0x1;

/// A word for the kernel to read, for the time of a call: below what the thread's stack holds, and
/// put back afterwards.
class OnStack {
 public:
  OnStack(pid_t tid, std::string_view text) : memory_(tid) {
    const auto registers = ptrace::registers(tid);
    std::array<std::byte, kSize> bytes{};
    std::transform(text.begin(), text.end(), bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    at_ = registers ? arch::Native::sp(*registers) - 2 * kSize : Address{};
    is_there_ = registers && memory_.read(at_, was_) == kSize && memory_.write(at_, bytes);
  }
  OnStack(const OnStack&) = delete;
  OnStack& operator=(const OnStack&) = delete;
  ~OnStack() {
    if (is_there_) {
      (void)memory_.write(at_, was_);
    }
  }
  [[nodiscard]] bool is_there() const { return is_there_; }
  [[nodiscard]] Address at() const { return at_; }

 private:
  static constexpr std::size_t kSize = 16;
  static_assert(kMemoryName.size() < kSize);
  TargetMemory memory_;
  Address at_;
  std::array<std::byte, kSize> was_{};
  bool is_there_ = false;
};

}  // namespace

core::Result<std::uint64_t> call_in_target(const RemoteCaller& caller, std::string_view doing,
                                           long number, std::uint64_t a, std::uint64_t b,
                                           std::uint64_t c, std::uint64_t d, std::uint64_t e,
                                           std::uint64_t f) {
  const auto made =
      remote_syscall(caller.tid, caller.place, number, {a, b, c, d, e, f}, caller.trap_is_served);
  if (!made) {
    return tl::unexpected(made.error());
  }
  if (*made < 0) {
    return core::fail(fmt::format("{} in process {}", doing, caller.tid), static_cast<int>(-*made));
  }
  return static_cast<std::uint64_t>(*made);
}

core::Result<MemoryFile> make_memory_file(const RemoteCaller& caller, MemoryUse use) {
  const OnStack name(caller.tid, kMemoryName);
  if (!name.is_there()) {
    return core::fail("naming a file in memory", EFAULT);
  }
  const auto make = [&](std::uint64_t flags) {
    return call_in_target(caller, "making a file in memory", SYS_memfd_create, name.at().value(),
                          flags);
  };
  auto made = make(kCloseOnExec | (use == MemoryUse::code ? kExec : kNoExecSeal));
  if (!made && made.error().code == EINVAL) {
    made = make(kCloseOnExec);
  }
  if (!made) {
    return tl::unexpected(made.error());
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", caller.tid, *made);
  MemoryFile file{core::UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC)), *made};
  if (!file.ours.valid()) {
    auto failed = core::fail_errno("opening " + path);
    close_in_target(caller, file);
    return failed;
  }
  return file;
}

void close_in_target(const RemoteCaller& caller, const MemoryFile& file) {
  (void)call_in_target(caller, "closing", SYS_close, file.in_target);
}

core::Result<Address> map_in_target(const RemoteCaller& caller, const RemoteMapping& mapping) {
  const auto made =
      call_in_target(caller, "mapping memory", SYS_mmap, mapping.at.value(), mapping.size,
                     static_cast<std::uint64_t>(mapping.protection),
                     static_cast<std::uint64_t>(mapping.flags), mapping.fd, mapping.offset);
  if (!made) {
    return tl::unexpected(made.error());
  }
  const Address at{*made};
  if ((mapping.flags & MAP_FIXED_NOREPLACE) != 0 && at != mapping.at) {
    unmap_in_target(caller, {at, at + mapping.size});  // before Linux 4.17 it is only a wish
    return core::fail("mapping memory", EEXIST);
  }
  (void)call_in_target(caller, "advising", SYS_madvise, at.value(), mapping.size, MADV_DONTDUMP);
  return at;
}

void unmap_in_target(const RemoteCaller& caller, core::AddressRange range) {
  (void)call_in_target(caller, "unmapping", SYS_munmap, range.begin.value(), range.size());
}

}  // namespace sp::supervisor
