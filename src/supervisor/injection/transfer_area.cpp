#include "supervisor/injection/transfer_area.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/mapping.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::NativeTransferStub;
using arch::NativeTrapHandler;
using core::Address;

constexpr std::uint64_t kAlignment = 16;
constexpr std::uint64_t kCodeSize =
    (sizeof NativeTransferStub::kCode + kAlignment - 1) / kAlignment * kAlignment;
/// More room than that is not needed.
constexpr std::uint64_t kMost = 4096;

/// A block begins with its size, including these 8 bytes; 0 ends the list of blocks. The slot
/// follows.
constexpr std::uint64_t kHeader = sizeof(std::uint64_t);
constexpr std::uint64_t kOwner = kHeader + offsetof(NativeTransferStub::Slot, owner);

std::uint64_t read_word(const TargetMemory& memory, Address from) {
  std::uint64_t word = 0;
  (void)memory.read(from, std::as_writable_bytes(std::span(&word, 1)));
  return word;
}

bool write_word(const TargetMemory& memory, Address to, std::uint64_t word) {
  return memory.write(to, std::as_bytes(std::span(&word, 1)));
}

std::span<const std::byte> code_bytes() {
  return std::as_bytes(std::span(NativeTransferStub::kCode));
}

/// The unused bytes at the end of the vdso but for those where remote system calls are made, from
/// its last other content on.
std::optional<core::AddressRange> unused_end(const TargetMemory& memory, core::AddressRange vdso) {
  const std::uint64_t size = std::min(kMost, vdso.size());
  std::vector<std::byte> bytes(size);
  const Address begin = vdso.end - size;
  if (size <= NativeTrapHandler::kTrampolineSize || memory.read(begin, bytes) != size) {
    return std::nullopt;
  }
  bytes.resize(size - NativeTrapHandler::kTrampolineSize);
  // Code of an earlier superprofiler that was killed, which threads may still be in.
  const auto code = code_bytes();
  const auto there = std::search(bytes.begin(), bytes.end(), code.begin(), code.end());
  if (there != bytes.end()) {
    return core::AddressRange{begin + static_cast<std::uint64_t>(there - bytes.begin()),
                              begin + bytes.size()};
  }
  const auto last =
      std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte b) { return b != std::byte{0}; });
  // The last content may end with zeros of its own.
  const auto used = static_cast<std::uint64_t>(bytes.rend() - last) + 2 * kAlignment;
  const std::uint64_t from = (used + kAlignment - 1) / kAlignment * kAlignment;
  if (from >= bytes.size()) {
    return std::nullopt;
  }
  return core::AddressRange{begin + from, begin + bytes.size()};
}

}  // namespace

std::optional<TransferArea> TransferArea::find(pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  if (!text || !NativeTransferStub::kIsAvailable) {
    return std::nullopt;
  }
  const TargetMemory memory(tid);
  for (const core::Mapping& mapping : core::parse_maps(*text)) {
    if (mapping.path != "[vdso]" || !mapping.executable || !mapping.readable) {
      continue;
    }
    const auto room = unused_end(memory, mapping.range);
    if (room && room->size() >= kCodeSize + kHeader + sizeof(NativeTransferStub::Slot)) {
      return TransferArea(room->begin, room->end);
    }
  }
  return std::nullopt;
}

/// Returns the block at which the visit has ended, or the end of the list.
template <typename Visit>
Address TransferArea::visit_blocks(const TargetMemory& memory, const Visit& visit) const {
  Address at = code_ + kCodeSize;
  while (at + kHeader + sizeof(NativeTransferStub::Slot) <= end_) {
    const std::uint64_t size = read_word(memory, at);
    if (size < kHeader || visit(at, size, read_word(memory, at + kOwner))) {
      break;
    }
    at = at + size;
  }
  return at;
}

std::optional<std::uint64_t> TransferArea::offset_of(Address pc) const {
  return pc >= code_ && pc < code_ + sizeof NativeTransferStub::kCode ? std::optional(pc - code_)
                                                                      : std::nullopt;
}

bool TransferArea::is_written(const TargetMemory& memory) const {
  std::array<std::byte, sizeof NativeTransferStub::kCode> there{};
  return memory.read(code_, there) == there.size() &&
         std::equal(there.begin(), there.end(), code_bytes().begin());
}

bool TransferArea::is_in_use(std::uint64_t owner) const {
  if (owner == 0) {
    return false;
  }
  const auto text = read_proc(fmt::format("/proc/{}/syscall", owner));
  if (!text) {
    return false;  // it has ended
  }
  const auto call = parse_syscall(*text);
  return !call || offset_of(Address{call->pc});
}

std::optional<Address> TransferArea::slot_for(pid_t tid, std::size_t scratch) const {
  const TargetMemory memory(tid);
  const std::uint64_t size =
      (kHeader + sizeof(NativeTransferStub::Slot) + scratch + kAlignment - 1) / kAlignment *
      kAlignment;
  if (!is_written(memory) && !memory.write(code_, code_bytes())) {
    return std::nullopt;
  }
  release(tid);  // one of another size, whose registers are those of an earlier call
  std::optional<Address> known;
  const Address last =
      visit_blocks(memory, [&](Address at, std::uint64_t there, std::uint64_t owner) {
        if (there >= size && !is_in_use(owner)) {
          known = at + kHeader;
        }
        return known.has_value();
      });
  if (!known && last + size <= end_ && write_word(memory, last, size)) {
    known = last + kHeader;
  }
  return known;
}

std::optional<NativeTransferStub::Slot> TransferArea::slot_of(pid_t tid) const {
  const TargetMemory memory(tid);
  std::optional<NativeTransferStub::Slot> slot;
  visit_blocks(memory, [&](Address at, std::uint64_t /*size*/, std::uint64_t owner) {
    NativeTransferStub::Slot there;
    const auto bytes = std::as_writable_bytes(std::span(&there, 1));
    if (owner == static_cast<std::uint64_t>(tid) &&
        memory.read(at + kHeader, bytes) == bytes.size()) {
      slot = there;
    }
    return slot.has_value();
  });
  return slot;
}

void TransferArea::release(pid_t tid) const {
  const TargetMemory memory(tid);
  visit_blocks(memory, [&](Address at, std::uint64_t /*size*/, std::uint64_t owner) {
    if (owner == static_cast<std::uint64_t>(tid)) {
      (void)write_word(memory, at + kOwner, 0);
    }
    return false;
  });
}

void TransferArea::remove_if_unused(pid_t pid) const {
  const TargetMemory memory(pid);
  bool is_used = !is_written(memory);
  visit_blocks(memory, [&](Address /*at*/, std::uint64_t /*size*/, std::uint64_t owner) {
    is_used = is_used || is_in_use(owner);
    return is_used;
  });
  if (!is_used) {
    (void)memory.write(code_, std::vector<std::byte>(end_ - code_));
  }
}

}  // namespace sp::supervisor
