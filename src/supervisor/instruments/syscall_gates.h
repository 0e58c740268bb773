#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/instruments/module_scan.h"

namespace sp::supervisor {

/// Finds, without a stop, where programs make the system calls that matter to breakpoints, and puts
/// gates there: rt_sigprocmask, rt_sigaction, clone, clone3, mprotect, arch_prctl and syscall(3),
/// in libc and in programs without one. Runs on the ptrace thread.
class SyscallGates {
 public:
  /// `analysis` finds syscall(3); null where nobody needs that.
  explicit SyscallGates(CodeAnalysis* analysis) : analysis_(analysis) {}

  /// Puts gates into the modules of a process. True where they are complete: its libc has them, or
  /// it will have none.
  bool insert(InstrumentedCode& code, const ModuleScan& scan);

  /// Where a process calls rt_sigprocmask and rt_sigaction: the addresses behind the calls.
  struct MaskChanges {
    std::vector<core::Address> behind;
    bool are_all = false;  // as insert() says
  };
  [[nodiscard]] MaskChanges find_mask_changes(const ModuleScan& scan);

 private:
  struct Place {
    std::uint64_t address = 0;  // of ELF
    Gate gate = Gate::none;
    int number = 0;  // of the system call
  };
  using File = std::pair<std::uint64_t, std::string>;  // inode and path

  [[nodiscard]] const std::vector<Place>& places_in(const ScannedModule& module,
                                                    std::uint64_t inode);
  [[nodiscard]] std::vector<Place> find(const ScannedModule& module);

  CodeAnalysis* analysis_;
  std::map<File, std::vector<Place>> known_;
};

}  // namespace sp::supervisor
