#include "commands/session/stack_source.h"

#include <optional>
#include <utility>
#include <vector>

#include "supervisor/unwinding/stack_resolver.h"

namespace sp::session {
namespace {

class ResolverSource final : public analyzer::StackSource {
 public:
  ResolverSource() : resolver_(supervisor::StackResolverOptions{}) {}

  void process_started(core::ProcessId process, core::ProcessId parent) override {
    resolver_.process_started(process, parent);
  }
  void process_ended(core::ProcessId process) override { resolver_.process_ended(process); }
  void set_maps(core::ProcessId process, core::ThreadId thread,
                core::MappingSnapshot mapped) override {
    resolver_.set_maps(process, thread.tid, std::move(mapped.maps), mapped.is_followed);
  }
  core::Stack resolve(core::ProcessId process, core::ThreadId thread,
                      const core::RawStack& raw) override {
    return resolver_.resolve(process, thread.tid, raw);
  }
  core::ModuleOffset locate(core::ProcessId process, core::Address address) override {
    return resolver_.locate(process, address);
  }
  std::optional<core::Address> address_of(core::ProcessId process,
                                          core::ModuleOffset where) override {
    return resolver_.address_of(process, where);
  }
  std::vector<core::Module> take_new_modules() override { return resolver_.take_new_modules(); }

 private:
  supervisor::StackResolver resolver_;
};

}  // namespace

std::unique_ptr<analyzer::StackSource> make_stack_source() {
  return std::make_unique<ResolverSource>();
}

}  // namespace sp::session
