#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/address.h"
#include "core/module.h"

namespace sp::profiler {

/// What files and readers know addresses by.
class TreeIds {
 public:
  void add(const core::Module& module) { modules_[module.id] = {module, {}}; }

  /// In the process that the module was first seen in; the offset of an unknown module.
  [[nodiscard]] std::uint64_t address(core::ModuleOffset where) const;
  /// symbols::function_id of a function's first instruction. The first one of a file without a
  /// build-id takes time.
  [[nodiscard]] std::uint64_t function(core::ModuleOffset start);

 private:
  struct Known {
    core::Module module;
    std::optional<std::uint32_t> hash{};
  };
  std::map<core::ModuleId, Known> modules_;
};

}  // namespace sp::profiler
