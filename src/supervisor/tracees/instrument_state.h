#pragma once

#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// What the running instrument knows of an address space. Opaque to everyone but the instruments.
class CodeState {
 public:
  CodeState() = default;
  CodeState(const CodeState&) = delete;
  CodeState& operator=(const CodeState&) = delete;
  virtual ~CodeState() = default;
};

/// What the running instrument knows of a thread. Opaque to everyone but that instrument, except
/// for what a stopped thread's registers would be without it.
class ThreadState {
 public:
  ThreadState() = default;
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;
  virtual ~ThreadState() = default;

  /// Null: what they are.
  [[nodiscard]] virtual const ptrace::Registers* registers_without_us() const { return nullptr; }
};

}  // namespace sp::supervisor
