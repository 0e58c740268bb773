#include "commands/xray/process_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_files.h"
#include "supervisor/startup/refusal.h"

namespace sp::xray {
namespace {

/// Nothing if the mapping's file is no ELF file or cannot be opened, or if it has no code there.
std::optional<core::Module> module_of(const supervisor::ProcessFiles& process,
                                      const core::Mapping& mapping) {
  const auto opened = supervisor::open_mapped_file(process, mapping);
  if (!opened) {
    return std::nullopt;
  }
  const auto file = core::MappedFile::map(opened->fd.get(), mapping.path);
  const auto image = file ? core::ElfImage::parse(*file) : tl::unexpected(file.error());
  const auto bias = image ? supervisor::load_bias(**image, mapping) : std::nullopt;
  if (!bias) {
    return std::nullopt;
  }
  core::Module module;
  module.kind = core::ModuleKind::file;
  module.path = mapping.path;
  module.deleted = mapping.deleted;
  module.build_id = (*image)->build_id();
  module.base = core::Address{*bias};
  module.process = process.process;
  module.root = process.root;
  module.image = *image;
  return module;
}

}  // namespace

core::Result<ProcessModules> read_process(pid_t pid) {
  ProcessModules process{supervisor::TargetMemory(pid), {}};
  if (process.memory.fd() < 0) {
    const int error = errno == EACCES ? EPERM : errno == ENOENT ? ESRCH : errno;
    return core::fail(supervisor::explain_attach_refusal(pid, error));
  }
  const auto text = supervisor::read_proc(fmt::format("/proc/{}/maps", pid));
  const auto maps = text ? core::parse_maps(*text) : std::vector<core::Mapping>{};
  if (maps.empty()) {  // a zombie or a kernel thread
    return core::fail(supervisor::explain_attach_refusal(pid, text ? ESRCH : text.error().code));
  }
  const supervisor::ProcessFiles files{{pid, 0}, pid, supervisor::foreign_root({pid, 0}, pid)};
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::string>> known;
  for (const core::Mapping& mapping : maps) {
    const auto key = std::make_tuple(mapping.device, mapping.inode, mapping.path);
    if (!mapping.executable || mapping.inode == 0 || known.contains(key)) {
      continue;
    }
    if (auto module = module_of(files, mapping)) {
      known.insert(key);
      module->id = core::ModuleId{static_cast<std::uint32_t>(process.modules.size() + 1)};
      process.modules.push_back(std::move(*module));
    }
  }
  return process;
}

}  // namespace sp::xray
