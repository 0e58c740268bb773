#include "supervisor/instruments/module_scan.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "arch/native.h"
#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "supervisor/breakpoints/code_regions.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

std::uint64_t inode_of_program(pid_t tid) {
  struct stat stat {};
  return ::stat(fmt::format("/proc/{}/exe", tid).c_str(), &stat) == 0 ? stat.st_ino : 0;
}

std::shared_ptr<const core::ElfImage> open_image(const ProcessFiles& process,
                                                 const core::Mapping& mapping) {
  const auto file = open_mapped_file(process, mapping);
  const auto mapped = file ? core::MappedFile::map(file->fd.get(), mapping.path)
                           : core::Result<std::shared_ptr<const core::MappedFile>>(core::fail(""));
  if (!mapped) {
    return nullptr;
  }
  const auto image = core::ElfImage::parse(*mapped);
  return image ? *image : nullptr;
}

std::string_view file_name(const core::Mapping& mapping) {
  return std::string_view(mapping.path).substr(mapping.path.rfind('/') + 1);
}

bool is_loader(const core::Mapping& mapping) {
  const std::string_view name = file_name(mapping);
  return name.starts_with("ld-") || name.starts_with("ld.");
}

bool is_libc(const core::Mapping& mapping) {
  const std::string_view name = file_name(mapping);
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-musl");
}

/// The glibc before 2.34 has threads in a library of its own.
bool is_libpthread(const core::Mapping& mapping) {
  return file_name(mapping).starts_with("libpthread");
}

}  // namespace

ModuleScan::ModuleScan(ProcessFiles files, std::vector<core::Mapping> maps)
    : files_(std::move(files)),
      program_inode_(inode_of_program(files_.tid)),
      maps_(std::move(maps)) {}

std::optional<ModuleScan> ModuleScan::read(core::ProcessId process, pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  if (!text || text->empty()) {
    return std::nullopt;
  }
  return ModuleScan({process, tid, foreign_root(process, tid)}, core::parse_maps(*text));
}

bool ModuleScan::runs_in_valgrind() const {
  return std::any_of(maps_.begin(), maps_.end(), [this](const core::Mapping& mapping) {
    return mapping.inode == program_inode_ && mapping.path.ends_with("-linux") &&
           mapping.path.find("/valgrind/") != std::string::npos;
  });
}

std::vector<ScannedModule> ModuleScan::find_wanted(
    CodeAnalysis& analysis, const std::function<bool(core::AddressRange)>& is_known) const {
  std::vector<ScannedModule> wanted;
  if (runs_in_valgrind()) {
    return wanted;
  }
  for (const core::Mapping& mapping : maps_) {
    CodeAnalysis::File file{mapping.path, files_.root, mapping.inode == program_inode_, nullptr};
    if (!can_hold_breakpoints(mapping) || is_known(mapping.range) || !analysis.wants(file)) {
      continue;
    }
    file.image = open_image(files_, mapping);
    auto bias = file.image != nullptr ? load_bias(*file.image, mapping) : std::nullopt;
    if (bias && file.image->machine() != arch::Native::kElfMachine) {
      bias.reset();
    }
    wanted.push_back({mapping.range, std::move(file), bias});
  }
  return wanted;
}

std::optional<ScannedModule> ModuleScan::open(const core::Mapping& mapping) const {
  CodeAnalysis::File file{mapping.path, files_.root, mapping.inode == program_inode_,
                          open_image(files_, mapping)};
  const auto bias = file.image != nullptr ? load_bias(*file.image, mapping) : std::nullopt;
  if (!bias || file.image->machine() != arch::Native::kElfMachine) {
    return std::nullopt;
  }
  return ScannedModule{mapping.range, std::move(file), bias};
}

std::vector<ScannedModule> ModuleScan::find_all() const {
  std::vector<ScannedModule> all;
  for (const core::Mapping& mapping : maps_) {
    if (!can_hold_breakpoints(mapping)) {
      continue;
    }
    if (auto module = open(mapping)) {
      all.push_back(*std::move(module));
    }
  }
  return all;
}

ModuleScan::CallingModules ModuleScan::find_calling_modules() const {
  CallingModules calling;
  const auto is_any = [this](auto is_wanted) {
    return std::any_of(maps_.begin(), maps_.end(), [&](const core::Mapping& mapping) {
      return can_hold_breakpoints(mapping) && is_wanted(mapping);
    });
  };
  const bool has_libc = is_any(is_libc);
  const bool is_static = !has_libc && !is_any(is_loader);
  calling.are_all = has_libc || is_static;
  for (const core::Mapping& mapping : maps_) {
    const bool is_program = mapping.inode == program_inode_;
    if (!can_hold_breakpoints(mapping) ||
        !(is_libc(mapping) || is_libpthread(mapping) || (is_static && is_program))) {
      continue;
    }
    if (auto module = open(mapping)) {
      calling.modules.push_back({*std::move(module), mapping.inode});
    }
  }
  return calling;
}

std::vector<core::Address> ModuleScan::find_library_events(CodeAnalysis& analysis) const {
  std::vector<core::Address> events;
  for (const core::Mapping& mapping : maps_) {
    if (!can_hold_breakpoints(mapping) || !is_loader(mapping)) {
      continue;
    }
    const CodeAnalysis::File file{mapping.path, files_.root, false, open_image(files_, mapping)};
    const auto bias = file.image != nullptr ? load_bias(*file.image, mapping) : std::nullopt;
    const auto symbol = bias ? analysis.symbol(file, "_dl_debug_state") : std::nullopt;
    if (symbol && mapping.range.contains(core::Address{*symbol + *bias})) {
      events.push_back(core::Address{*symbol + *bias});
    }
  }
  return events;
}

std::vector<core::Address> ModuleScan::find_mapping_calls() const {
  constexpr std::array<std::string_view, 1> kCalls = {"mmap"};
  std::vector<core::Address> behind;
  for (const core::Mapping& mapping : maps_) {
    const auto loader =
        can_hold_breakpoints(mapping) && is_loader(mapping) ? open(mapping) : std::nullopt;
    if (!loader) {
      continue;
    }
    const core::ElfImage& image = *loader->file.image;
    for (const core::LoadSegment& segment : image.segments()) {
      const auto text =
          segment.executable ? image.bytes_at(segment.address) : std::span<const std::byte>{};
      for (const arch::SyscallSite& site : arch::Native::find_syscall_sites(text, kCalls)) {
        const core::Address at{segment.address + site.call_at + *loader->bias};
        if (mapping.range.contains(at)) {
          behind.push_back(at + arch::NativeTrapHandler::kSyscall.size());
        }
      }
    }
  }
  return behind;
}

std::uint64_t ModuleScan::files() const {
  std::uint64_t sum = 0;
  for (const core::Mapping& mapping : maps_) {
    if (mapping.executable && mapping.inode != 0) {
      sum = (sum ^ mapping.range.begin.value() ^ (mapping.inode << 20U)) * 0x9E37'79B9'7F4A'7C15U;
    }
  }
  return sum;
}

}  // namespace sp::supervisor
