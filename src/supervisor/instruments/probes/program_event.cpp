#include "supervisor/instruments/probes/program_event.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/native.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

/// What can be read of it, up to a page that is not there.
std::vector<std::byte> read_data(ThreadMemory& memory, Address from, std::uint64_t size) {
  constexpr std::uint64_t kPage = 4'096;
  std::vector<std::byte> data(std::min<std::uint64_t>(size, core::kMostTraceData));
  if (memory.read(from, data)) {
    return data;
  }
  data.resize(std::min<std::uint64_t>(data.size(), kPage - from.value() % kPage));
  return memory.read(from, data) ? data : std::vector<std::byte>{};
}

}  // namespace

std::optional<core::ProgramEvent> program_event(const Tracee& tracee, const EventSled& sled,
                                                const ptrace::Registers& registers) {
  ThreadMemory memory(tracee.id.tid);
  std::vector<std::byte> before;
  if (arch::Native::pc(registers) == sled.begin) {
    before.resize(sled.call - sled.begin);
    if (!memory.read(sled.begin, before)) {
      return std::nullopt;
    }
  }
  const auto found = arch::Native::sled_event(before, sled.kind, registers);
  if (!found) {
    return std::nullopt;
  }
  // Compilers set no more of the registers: llvm.xray.typedevent(i16, ptr, i32).
  const auto size = static_cast<std::uint32_t>(found->size);
  core::ProgramEvent event{{}, size, read_data(memory, found->data, size)};
  if (sled.kind == core::SledKind::typed_event) {
    event.type = static_cast<std::uint16_t>(found->type);
  }
  return event;
}

}  // namespace sp::supervisor
