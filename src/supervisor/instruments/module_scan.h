#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/ids.h"
#include "core/mapping.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/linux/target_files.h"

namespace sp::supervisor {

/// A file-backed mapping of code in a process.
struct ScannedModule {
  core::AddressRange range;
  CodeAnalysis::File file;
  /// What to add to the file's ELF addresses; nothing where the file is not this CPU's code or
  /// cannot be read.
  std::optional<std::uint64_t> bias;
};

/// One look at the mappings of a process. Runs on the ptrace thread.
class ModuleScan {
 public:
  /// Reads /proc/TID/maps. Nothing where the process is gone.
  [[nodiscard]] static std::optional<ModuleScan> read(core::ProcessId process, pid_t tid);

  [[nodiscard]] const std::vector<core::Mapping>& maps() const { return maps_; }
  /// A number that says which files' code is where.
  [[nodiscard]] std::uint64_t files() const;
  /// Valgrind reads the code of a program, and some of its own, and executes what it makes of it:
  /// it would take breakpoints for the program's.
  [[nodiscard]] bool runs_in_valgrind() const;
  /// The modules that `analysis` wants instrumented and whose range `is_known` does not know yet.
  /// Opens their files.
  [[nodiscard]] std::vector<ScannedModule> find_wanted(
      CodeAnalysis& analysis, const std::function<bool(core::AddressRange)>& is_known) const;
  /// All modules whose files are this CPU's code. Opens their files.
  [[nodiscard]] std::vector<ScannedModule> find_all() const;
  /// The modules that make system calls for the program.
  struct CallingModules {
    struct Module {
      ScannedModule module;
      std::uint64_t inode = 0;
    };
    std::vector<Module> modules;
    bool are_all = false;  // false: the loader has still to map libc
  };
  /// libc and, in a program without one, the program. Opens their files.
  [[nodiscard]] CallingModules find_calling_modules() const;
  /// Where shared-library event breakpoints go: the functions that loaders call after they have
  /// mapped a file and before they call the file's constructors, for debuggers (<link.h>, r_brk).
  [[nodiscard]] std::vector<core::Address> find_library_events(CodeAnalysis& analysis) const;
  /// The instructions behind the loaders' calls of mmap.
  [[nodiscard]] std::vector<core::Address> find_mapping_calls() const;

 private:
  /// Opens the file; nothing where it is not this CPU's code or cannot be read.
  [[nodiscard]] std::optional<ScannedModule> open(const core::Mapping& mapping) const;

  ModuleScan(ProcessFiles files, std::vector<core::Mapping> maps);

  ProcessFiles files_;
  std::uint64_t program_inode_ = 0;  // 0: not known
  std::vector<core::Mapping> maps_;
};

}  // namespace sp::supervisor
