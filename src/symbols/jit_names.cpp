#include "symbols/jit_names.h"

#include "symbols/demangle.h"
#include "symbols/jit_dump_file.h"
#include "symbols/perf_map.h"

namespace sp::symbols {
namespace {

class JitNames : public ModuleNames {
 public:
  JitNames(const core::Module& module, const std::string& root)
      : path_(module.path), dump_(module.process.pid, root), map_(module.process.pid, root) {}

  std::vector<NamedFrame> name(std::uint64_t address) override {
    dump_.refresh();
    if (const JitCode* code = dump_.dump().codes().find(address).code) {
      return frames(*code, address);
    }
    map_.refresh();
    if (const auto found = map_.symbols().find(address)) {
      return {{demangle(found->name), true, found->begin, false, std::nullopt}};
    }
    return unnamed(address);
  }

  std::optional<std::uint32_t> generation_at(std::uint64_t address, core::TimePoint time) override {
    if (time != refreshed_) {  // once a sample, not once a frame
      dump_.refresh();
      refreshed_ = time;
    }
    const auto since_boot = static_cast<std::uint64_t>(time.time_since_epoch().count());
    const auto hit = dump_.dump().codes().find(
        address, dump_.dump().has_monotonic_times() ? since_boot : JitCodes::kAnyTime);
    return hit.code == nullptr ? std::nullopt : std::optional(hit.generation);
  }

  std::vector<NamedFrame> name_in(std::uint32_t generation, std::uint64_t address) override {
    const JitCode* code = dump_.dump().codes().find_in(generation, address);
    return code == nullptr ? unnamed(address) : frames(*code, address);
  }

  [[nodiscard]] bool may_learn() const override { return true; }

 private:
  [[nodiscard]] std::vector<NamedFrame> frames(const JitCode& code, std::uint64_t address) const {
    return {{demangle(code.name), true, code.begin, false, dump_.dump().line_of(code, address)}};
  }
  [[nodiscard]] std::vector<NamedFrame> unnamed(std::uint64_t address) const {
    return {{offset_name(path_, address), false, address, false, std::nullopt}};
  }

  std::string path_;
  core::TimePoint refreshed_{};
  JitDumpFile dump_;
  PerfMap map_;
};

}  // namespace

std::unique_ptr<ModuleNames> open_jit_code(const core::Module& module, const std::string& root) {
  return std::make_unique<JitNames>(module, root);
}

}  // namespace sp::symbols
