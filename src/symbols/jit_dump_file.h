#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/clock.h"
#include "core/fd.h"
#include "symbols/jit_dump.h"
#include "symbols/jit_owner.h"

namespace sp::symbols {

/// One process's jit-PID.dump, which it maps executable so that its path is known. It is looked for
/// while the process lives, and then stays open.
class JitDumpFile {
 public:
  /// `root` as in core::Module.
  JitDumpFile(pid_t pid, std::string root);

  /// Reads what has been written since the last call.
  void refresh();
  [[nodiscard]] const JitDump& dump() const { return dump_; }

 private:
  void look_for();

  JitOwner owner_;
  std::string root_;
  core::UniqueFd fd_;
  std::int64_t read_size_ = 0;
  core::TimePoint look_next_;  // the maps of a process may be long
  JitDump dump_;
};

/// The number in the path "FOLDER/jit-NUMBER.dump"; -1 for any other.
[[nodiscard]] pid_t jit_dump_pid(const std::string& path);

}  // namespace sp::symbols
