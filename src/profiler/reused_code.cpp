#include "profiler/reused_code.h"

namespace sp::profiler {

namespace {
// Above the numbers of the unwinding stage, which counts from zero.
constexpr std::uint32_t kFirstModule = 0x8000'0000U;
}  // namespace

void ReusedCode::add(const core::Module& module) {
  if (module.kind == core::ModuleKind::jit &&
      static_cast<std::uint32_t>(module.id) < kFirstModule) {
    jits_.insert_or_assign(module.id, module);
  }
}

std::optional<core::SampleTaken> ReusedCode::told_apart(const core::SampleTaken& sample) {
  std::optional<core::SampleTaken> changed;
  for (std::size_t i = 0; !jits_.empty() && i < sample.stack.frames.size(); ++i) {
    const core::Frame& frame = sample.stack.frames[i];
    if (!jits_.contains(frame.where.module)) {
      continue;
    }
    const std::uint32_t generation =
        namer_.generation(frame.where, frame.is_return_address, sample.time);
    if (generation == 0) {
      continue;
    }
    if (!changed) {
      changed = sample;
    }
    changed->stack.frames[i].where.module = module_of(frame.where.module, generation);
  }
  return changed;
}

core::ModuleId ReusedCode::module_of(core::ModuleId jit, std::uint32_t generation) {
  const core::ModuleId next{kFirstModule + static_cast<std::uint32_t>(generations_.size())};
  const auto [entry, is_new] = generations_.try_emplace({jit, generation}, next);
  if (is_new) {
    core::Module module = jits_.at(jit);
    module.id = next;
    announce_(core::ModuleSeen{module});
    namer_.add_generation(next, jit, generation);
  }
  return entry->second;
}

}  // namespace sp::profiler
