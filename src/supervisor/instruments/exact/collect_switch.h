#pragma once

#include <sys/types.h>

#include "core/ids.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/exact/counted_code.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// --toggle-collect: a thread is counted only while it is in one of the functions that the analysis
/// plans, or in what these call. Runs on the ptrace thread.
class CollectSwitch {
 public:
  /// Null: threads are counted wherever they are.
  explicit CollectSwitch(CodeAnalysis* functions) : functions_(functions) {}

  [[nodiscard]] bool is_used() const { return functions_ != nullptr; }
  /// The process may have mapped more files.
  void find_functions(CountedCode& code, core::ProcessId process, pid_t tid) const;
  /// Control comes to where `registers` say. Says the same again for the same registers.
  void arrive(Tracee& tracee, const ptrace::Registers& registers) const;

 private:
  CodeAnalysis* functions_;
};

}  // namespace sp::supervisor
