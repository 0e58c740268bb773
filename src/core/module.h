#pragma once

#include <memory>
#include <string>

#include "core/address.h"
#include "core/elf_image.h"
#include "core/ids.h"

namespace sp::core {

enum class ModuleKind {
  file,     // an ELF file, mapped from disk
  vdso,     // the kernel's, copied out of a process
  jit,      // executable memory of one process without a file: offsets are its addresses
  unknown,  // an address outside of executable mappings: offsets are addresses
};

/// A container of code. The unwinding stage discovers modules, the profiler names their addresses.
struct Module {
  ModuleId id{};
  ModuleKind kind = ModuleKind::unknown;
  /// As the process sees it (inside its own mount namespace); "[vdso]", "[jit]", "[unknown]".
  std::string path;
  /// The file was deleted or replaced after it was mapped; `image` is still the mapped one.
  bool deleted = false;
  std::string build_id;  // lower-case hex; "" if there is none
  Address base;          // of ELF address 0 in the process that it was first seen in
  ProcessId process;     // the process that it was first seen in; owns a jit module
  /// Root of the process's mount namespace: "/proc/PID/root", or "" if it is superprofiler's own.
  std::string root;
  /// Null if the file could not be read or is not ELF, and for jit and unknown.
  std::shared_ptr<const ElfImage> image;
};

}  // namespace sp::core
