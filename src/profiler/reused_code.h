#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/messages.h"
#include "profiler/namer.h"

namespace sp::profiler {

/// Tells functions apart that a JIT compiler has put at one address, one after the other: a place
/// in a profile is a module and an offset, so later generations are further modules "[jit]".
class ReusedCode {
 public:
  /// `announce` is called with each new module before it is used. `namer` must outlive this.
  ReusedCode(Namer& namer, std::function<void(const core::ModuleSeen&)> announce)
      : namer_(namer), announce_(std::move(announce)) {}

  void add(const core::Module& module);
  /// The sample with its frames in the modules of the functions that were there when it was taken;
  /// nothing if that changes nothing.
  [[nodiscard]] std::optional<core::SampleTaken> told_apart(const core::SampleTaken& sample);

 private:
  [[nodiscard]] core::ModuleId module_of(core::ModuleId jit, std::uint32_t generation);

  Namer& namer_;
  std::function<void(const core::ModuleSeen&)> announce_;
  std::map<core::ModuleId, core::Module> jits_;
  std::map<std::pair<core::ModuleId, std::uint32_t>, core::ModuleId> generations_;
};

}  // namespace sp::profiler
