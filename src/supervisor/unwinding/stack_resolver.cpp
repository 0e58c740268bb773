#include "supervisor/unwinding/stack_resolver.h"

#include <unordered_map>
#include <utility>

#include "supervisor/unwinding/stack_walk.h"

namespace sp::supervisor {

struct StackResolver::State {
  explicit State(StackResolverOptions wanted) : options(std::move(wanted)) {}

  AddressSpace& space_of(core::ProcessId process) {
    return spaces.try_emplace(process, modules, process, options.refresh).first->second;
  }

  StackResolverOptions options;
  ModuleTable modules;
  FrameCursor cursor;
  std::unordered_map<core::ProcessId, AddressSpace> spaces;
};

StackResolver::StackResolver(StackResolverOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
StackResolver::StackResolver(StackResolver&&) noexcept = default;
StackResolver& StackResolver::operator=(StackResolver&&) noexcept = default;
StackResolver::~StackResolver() = default;

void StackResolver::process_started(core::ProcessId process, core::ProcessId parent) {
  state_->spaces.erase(process);
  AddressSpace& space = state_->space_of(process);
  const auto known = state_->spaces.find(parent);
  if (known != state_->spaces.end() && parent != process) {
    space.inherit(known->second);
  }
}

void StackResolver::process_ended(core::ProcessId process) { state_->spaces.erase(process); }

void StackResolver::set_maps(core::ProcessId process, pid_t tid, std::vector<core::Mapping> maps,
                             bool is_followed) {
  state_->space_of(process).set_maps(std::move(maps), tid, is_followed);
}

core::Stack StackResolver::resolve(core::ProcessId process, pid_t tid, const core::RawStack& raw) {
  AddressSpace& space = state_->space_of(process);
  space.begin_sample(tid, state_->options.now());
  return StackWalk(state_->cursor, space, state_->modules, raw).run(state_->options.max_frames);
}

std::vector<WalkedFrame> StackResolver::walk(core::ProcessId process, pid_t tid,
                                             const core::RawStack& raw) {
  AddressSpace& space = state_->space_of(process);
  space.begin_sample(tid, state_->options.now());
  std::vector<WalkedFrame> frames;
  const core::Stack stack = StackWalk(state_->cursor, space, state_->modules, raw)
                                .run(state_->options.max_frames, &frames);
  return stack.end == core::StackEnd::root ? frames : std::vector<WalkedFrame>{};
}

core::ModuleOffset StackResolver::locate(core::ProcessId process, core::Address address) {
  const CodeRegion* region = state_->space_of(process).find_mapped(address);
  return region != nullptr
             ? core::ModuleOffset{region->module->id, region->elf_address(address)}
             : core::ModuleOffset{state_->modules.unknown_module()->id, address.value()};
}

std::optional<core::Address> StackResolver::address_of(core::ProcessId process,
                                                       core::ModuleOffset where) {
  return state_->space_of(process).address_of(where);
}

std::vector<core::Module> StackResolver::take_new_modules() { return state_->modules.take_new(); }

}  // namespace sp::supervisor
