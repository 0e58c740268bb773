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

/// A module as the unwinder uses it. Lives as long as the table that made it.
struct CodeModule {
  core::ModuleId id{};
  std::shared_ptr<const core::ElfImage> image;  // null for jit and unknown
  std::unique_ptr<FrameTable> frames;           // null where image is
  std::uint64_t lowest = 0;                     // where the image begins, as ELF address
};

/// All modules of a run, each once: a file that many processes map is one module, and the vdso too.
/// Gives out the ModuleIds.
class ModuleTable {
 public:
  /// The module of an executable mapping that shows a file; null where the file is not ELF, which
  /// makes its code the process's own (see jit_module). `maps` is the whole of the process's.
  CodeModule* file_module(const ProcessFiles& process, const core::Mapping& mapping,
                          const std::vector<core::Mapping>& maps);
  /// The module of "[vdso]"; null where its memory could not be copied.
  CodeModule* vdso_module(const ProcessFiles& process, const core::Mapping& mapping);
  /// A new module for the code that a process makes itself.
  CodeModule* jit_module(const ProcessFiles& process);
  /// The one module of addresses that nothing is known of.
  CodeModule* unknown_module();

  /// Modules met since the last call.
  [[nodiscard]] std::vector<core::Module> take_new();

 private:
  // Device, inode, path: what a mapping says of its file.
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
