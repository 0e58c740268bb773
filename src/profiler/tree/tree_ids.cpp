#include "profiler/tree/tree_ids.h"

#include "symbols/function_id.h"

namespace sp::profiler {

std::uint64_t TreeIds::address(core::ModuleOffset where) const {
  const auto known = modules_.find(where.module);
  const bool has_base =
      known != modules_.end() && (known->second.module.kind == core::ModuleKind::file ||
                                  known->second.module.kind == core::ModuleKind::vdso);
  return where.offset + (has_base ? known->second.module.base.value() : 0);
}

std::uint64_t TreeIds::function(core::ModuleOffset start) {
  const auto known = modules_.find(start.module);
  if (known == modules_.end() || !known->second.module.image) {
    return symbols::function_id(0, start.offset);
  }
  Known& module = known->second;
  if (!module.hash) {
    module.hash = symbols::module_hash(*module.module.image);
  }
  return symbols::function_id(*module.hash, start.offset);
}

}  // namespace sp::profiler
