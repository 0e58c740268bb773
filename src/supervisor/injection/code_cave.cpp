#include "supervisor/injection/code_cave.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "core/mapping.h"
#include "core/page.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;
using core::Address;

/// Where the code of the mapping's module ends; nothing if its ELF header does not say. `head` is
/// the mapping that contains that header.
std::optional<Address> end_of_code(const TargetMemory& memory, const core::Mapping& mapping,
                                   const core::Mapping& head) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(core::kPageSize, head.range.size()));
  bytes.resize(memory.read(head.range.begin, bytes));
  const auto image = core::ElfImage::parse(core::MappedFile::copy(std::move(bytes)));
  std::optional<Address> last;
  for (const core::LoadSegment& segment :
       image ? (*image)->segments() : std::vector<core::LoadSegment>{}) {
    const std::uint64_t end = segment.file_offset + segment.file_size;
    if (segment.executable && segment.file_offset < mapping.file_offset + mapping.range.size() &&
        end > mapping.file_offset) {
      const Address ends = mapping.range.begin + (end - mapping.file_offset);
      last = std::max(last.value_or(ends), ends);
    }
  }
  return last;
}

constexpr std::string_view kVdso = "[vdso]";

struct Cave {
  Address begin;
  std::uint64_t size = 0;
  bool is_blank = false;  // false: somebody else has put something there

  [[nodiscard]] bool is_better_than(const Cave& other) const {
    return std::pair(is_blank, size) > std::pair(other.is_blank, other.size);
  }
};

/// The cave behind a module's code, up to the end of its last page: no one uses those bytes. Behind
/// the code of the vdso are its section headers.
Cave cave_behind(const TargetMemory& memory, const core::Mapping& mapping,
                 const std::vector<core::Mapping>& maps) {
  const bool is_vdso = mapping.path == kVdso;
  if (!mapping.readable || !mapping.executable || mapping.shared || mapping.writable ||
      (mapping.inode == 0 && !is_vdso)) {
    return {};
  }
  const auto head = std::find_if(maps.begin(), maps.end(), [&mapping](const core::Mapping& other) {
    return other.file_offset == 0 && other.path == mapping.path && other.inode == mapping.inode &&
           other.device == mapping.device && other.range.begin <= mapping.range.begin;
  });
  const auto end = head != maps.end() ? end_of_code(memory, mapping, *head) : std::nullopt;
  if (!end) {
    return {};
  }
  constexpr std::uint64_t kAlignment = 16;
  Address begin{(end->value() + kAlignment - 1) / kAlignment * kAlignment};
  if (is_vdso) {
    begin = std::max(begin, mapping.range.end - NativeTrapHandler::kTrampolineSize);
  }
  if (begin >= mapping.range.end || mapping.range.end - begin >= core::kPageSize) {
    return {};
  }
  std::vector<std::byte> there(mapping.range.end - begin);
  const bool is_blank =
      memory.read(begin, there) == there.size() &&
      (there == std::vector<std::byte>(there.size()) || NativeTrapHandler::is_trampoline(there));
  return is_blank || !is_vdso ? Cave{begin, there.size(), is_blank} : Cave{};
}

}  // namespace

std::optional<Address> find_code_cave(pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  if (!text) {
    return std::nullopt;
  }
  const TargetMemory memory(tid);
  const auto maps = core::parse_maps(*text);
  Cave best;
  for (const core::Mapping& mapping : maps) {
    const Cave cave = cave_behind(memory, mapping, maps);
    // Prefer the vdso, which is no file.
    if (mapping.path == kVdso && cave.size >= NativeTrapHandler::kTrampolineSize) {
      return cave.begin;
    }
    best = cave.is_better_than(best) ? cave : best;
  }
  return best.size >= NativeTrapHandler::kSyscall.size() ? std::optional(best.begin) : std::nullopt;
}

}  // namespace sp::supervisor
