#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/mapping.h"
#include "core/module.h"
#include "supervisor/linux/target_files.h"
#include "supervisor/unwinding/frame_table.h"

namespace sp::supervisor {

/// A module as the unwinder uses it. Lives as long as the ModuleTable that made it.
struct CodeModule {
  core::ModuleId id{};
  std::shared_ptr<const core::ElfImage> image;  // null for JIT code and unknown code
  std::unique_ptr<FrameTable> frames;           // null if image is
  std::uint64_t lowest = 0;                     // ELF address where the image begins
};

/// All modules of a run. A file that many processes map is one module, and so is the vdso. Assigns
/// the ModuleIds.
class ModuleTable {
 public:
  /// The module of an executable mapping of a file; null if the file is not ELF: then the code
  /// counts as the process's own (see jit_module). `maps` are all maps of the process.
  CodeModule* file_module(const ProcessFiles& process, const core::Mapping& mapping,
                          const std::vector<core::Mapping>& maps);
  /// The module of "[vdso]"; null if its memory could not be copied.
  CodeModule* vdso_module(const ProcessFiles& process, const core::Mapping& mapping);
  /// A new module for the code that a process generates itself.
  CodeModule* jit_module(const ProcessFiles& process);
  /// The one module of unknown addresses.
  CodeModule* unknown_module();

  /// Modules met since the last call.
  [[nodiscard]] std::vector<core::Module> take_new();

 private:
  // Device, inode, path: what a mapping says about its file.
  using FileKey = std::tuple<std::uint32_t, std::uint64_t, std::string>;
  struct KnownFile {
    FileStamp stamp;
    std::string build_id;
    CodeModule* module = nullptr;  // null: not ELF
  };

  CodeModule* add(core::Module module);

  std::vector<std::unique_ptr<CodeModule>> modules_;
  std::vector<core::Module> new_;
  std::map<FileKey, std::vector<KnownFile>> files_;
  std::vector<CodeModule*> vdsos_;
  CodeModule* unknown_ = nullptr;
};

}  // namespace sp::supervisor
