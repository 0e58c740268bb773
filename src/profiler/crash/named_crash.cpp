#include "profiler/crash/named_crash.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sp::profiler {
namespace {

class CrashNamer {
 public:
  CrashNamer(const std::vector<core::Module>& modules, Namer& namer) : namer_(namer) {
    for (const core::Module& module : modules) {
      modules_[module.id] = &module;
    }
  }

  [[nodiscard]] CrashThread name(const core::ThreadAtCrash<core::PlacedStack>& thread) {
    CrashThread named;
    named.tid = thread.id.tid;
    named.name = thread.name;
    named.syscall = thread.syscall;
    named.end = thread.stack.stack.end;
    const auto& frames = thread.stack.stack.frames;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      add_calls(frames[i],
                i < thread.stack.addresses.size() ? thread.stack.addresses[i] : std::nullopt,
                named.calls);
    }
    return named;
  }

  /// Those of the stacks so far.
  [[nodiscard]] std::vector<CrashModule> used_modules() const {
    std::vector<CrashModule> used;
    for (const auto& [id, base] : used_) {
      const core::Module& module = *modules_.at(id);
      used.push_back({module.path, module.build_id, base});
    }
    return used;
  }

 private:
  void add_calls(const core::Frame& frame, std::optional<core::Address> address,
                 std::vector<CrashCall>& calls) {
    const auto known = modules_.find(frame.where.module);
    const core::Module* const module = known != modules_.end() ? known->second : nullptr;
    if (module != nullptr && module->image != nullptr) {
      used_[module->id] =
          address ? std::optional(address->value() - frame.where.offset) : std::nullopt;
    }
    for (const symbols::NamedFrame& one : namer_.name(frame.where, frame.is_return_address)) {
      CrashCall call;
      call.function = one.function;
      if (one.has_symbol && !one.inlined && frame.where.offset >= one.start) {
        call.offset = frame.where.offset - one.start;
      }
      call.module = module != nullptr ? module->path : "[unknown]";
      call.where = frame.where;
      call.start = {frame.where.module, one.start};
      call.is_return_address = frame.is_return_address;
      call.address = address;
      call.source = one.source;
      call.inlined = one.inlined;
      calls.push_back(std::move(call));
    }
  }

  Namer& namer_;
  std::map<core::ModuleId, const core::Module*> modules_;
  std::map<core::ModuleId, std::optional<std::uint64_t>> used_;  // and their bases
};

}  // namespace

NamedCrash name_crash(const core::CrashSeen& seen, const std::vector<core::Module>& modules,
                      Namer& namer) {
  CrashNamer names(modules, namer);
  NamedCrash named;
  named.pid = seen.process.pid;
  named.time = seen.time;
  named.signal = seen.signal;
  named.registers = seen.registers;
  named.unread_threads = seen.unread_threads;
  for (const auto& thread : seen.threads) {
    named.threads.push_back(names.name(thread));
  }
  named.modules = names.used_modules();
  return named;
}

}  // namespace sp::profiler
