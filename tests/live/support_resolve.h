#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "core/module.h"
#include "core/stack.h"
#include "live/support_capture.h"
#include "supervisor/unwinding/stack_resolver.h"

namespace sp::test {

/// Resolves stacks of one stopped program, and converts frames back into its addresses.
class Resolved {
 public:
  explicit Resolved(std::size_t max_frames = 20'000) : resolver_(options(max_frames)) {}

  core::Stack stack(const CapturedProgram& program, const core::RawStack& raw) {
    auto result = resolver_.resolve({program.pid(), 1}, program.tid(), raw);
    for (auto& module : resolver_.take_new_modules()) {
      modules_[module.id] = module;
    }
    return result;
  }
  std::uint64_t address(const core::Frame& frame) const {
    return frame.where.offset + modules_.at(frame.where.module).base.value();
  }
  const core::Module& module(const core::Frame& frame) const {
    return modules_.at(frame.where.module);
  }

 private:
  static supervisor::StackResolverOptions options(std::size_t max_frames) {
    supervisor::StackResolverOptions made;
    made.max_frames = max_frames;
    return made;
  }

  supervisor::StackResolver resolver_;
  std::map<core::ModuleId, core::Module> modules_;
};

}  // namespace sp::test
