#include "symbols/symbolizer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <future>
#include <map>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/fd.h"
#include "symbols/module_names.h"

namespace sp::symbols {
namespace {

/// A process's root directory, kept open so that its paths work after the process has ended.
class OpenRoot {
 public:
  explicit OpenRoot(const std::string& path)
      : fd_(::open((path + "/").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        path_(fd_.valid() ? fmt::format("/proc/self/fd/{}", fd_.get()) : path) {}

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  core::UniqueFd fd_;
  std::string path_;
};

struct KnownModule {
  core::Module module;
  std::string root;
  std::unique_ptr<ModuleNames> names;  // null until the first address is asked for
  core::ModuleId jit{};
  std::uint32_t generation = 0;  // not 0: the functions of a generation of `jit`
};

struct Answer {
  std::vector<NamedFrame> frames;
  bool is_final = true;
};

/// A file that is read on another thread.
struct Reading {
  core::ModuleId module{};
  std::future<std::unique_ptr<ModuleNames>> names;
};

}  // namespace

struct Symbolizer::State {
  SymbolizerOptions options;
  std::map<core::ProcessId, OpenRoot> roots;
  std::unordered_map<core::ModuleId, KnownModule> modules;
  std::unordered_map<core::ModuleOffset, Answer> answers;
  Reading reading;

  std::string root_of(const core::Module& module) {
    if (module.root.empty()) {
      return "";
    }
    return roots.try_emplace(module.process, module.root).first->second.path();
  }

  Answer ask(core::ModuleOffset where) {
    const auto known = modules.find(where.module);
    if (known == modules.end()) {
      return {{{offset_name("[unknown]", where.offset), false, where.offset, false, std::nullopt}},
              false};
    }
    const auto jit = modules.find(known->second.jit);
    if (known->second.generation > 0 && jit != modules.end()) {
      return ask_generation(jit->second, known->second.generation, where.offset);
    }
    ModuleNames& names = names_of(known->second);
    Answer answer{names.name(where.offset), true};
    answer.is_final = answer.frames.back().has_symbol || !names.may_learn();
    return answer;
  }

  Answer ask_generation(KnownModule& jit, std::uint32_t generation, std::uint64_t address) {
    Answer answer{names_of(jit).name_in(generation, address), true};
    answer.is_final = answer.frames.back().has_symbol;
    return answer;
  }

  /// Waits for what is read beside, so that no two files are.
  void finish_reading() {
    if (!reading.names.valid()) {
      return;
    }
    auto names = reading.names.get();
    const auto known = modules.find(reading.module);
    if (known != modules.end() && known->second.names == nullptr) {
      known->second.names = std::move(names);
    }
  }

  /// False if there is no thread for it.
  bool read_beside(core::ModuleOffset where, const KnownModule& known) {
    const auto read = [module = known.module, root = known.root, options = options,
                       at = where.offset] {
      std::unique_ptr<ModuleNames> names;
      options.beside([&] {
        names = open_module(module, root, options);
        (void)names->name(at);  // reads the index of debug information, too
      });
      return names;
    };
    try {
      reading = {where.module, std::async(std::launch::async, read)};
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  ModuleNames& names_of(KnownModule& module) {
    if (module.names == nullptr) {
      finish_reading();
    }
    if (module.names == nullptr) {
      module.names = open_module(module.module, module.root, options);
    }
    return *module.names;
  }
};

Symbolizer::Symbolizer(SymbolizerOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;
Symbolizer::~Symbolizer() = default;

void Symbolizer::add_module(const core::Module& module) {
  KnownModule known{module, state_->root_of(module), nullptr};
  if (module.kind == core::ModuleKind::jit) {
    known.names = open_module(module, known.root, state_->options);
  }
  state_->modules.insert_or_assign(module.id, std::move(known));
}

bool Symbolizer::prepare(core::ModuleOffset where) {
  State& state = *state_;
  if (state.reading.names.valid()) {
    if (state.reading.names.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      return false;
    }
    state.finish_reading();
  }
  const auto known = state.modules.find(where.module);
  const bool is_unread = known != state.modules.end() && known->second.names == nullptr &&
                         known->second.module.kind != core::ModuleKind::jit &&
                         known->second.generation == 0;
  if (is_unread && (state.options.beside == nullptr || !state.read_beside(where, known->second))) {
    (void)state.names_of(known->second).name(where.offset);
  }
  return true;
}

void Symbolizer::ask_server() {
  state_->finish_reading();
  if (state_->options.server == nullptr || !std::exchange(state_->options.server_later, false)) {
    return;
  }
  for (auto& [id, known] : state_->modules) {
    if (known.names != nullptr && known.names->lacks_debug_file()) {
      known.names.reset();
      std::erase_if(state_->answers,
                    [of = id](const auto& answer) { return answer.first.module == of; });
    }
  }
}

const std::vector<NamedFrame>& Symbolizer::name(core::ModuleOffset where, bool is_return_address) {
  if (is_return_address) {
    where.offset -= 1;
  }
  const auto [entry, is_new] = state_->answers.try_emplace(where);
  if (is_new || !entry->second.is_final) {
    entry->second = state_->ask(where);
  }
  return entry->second.frames;
}

std::uint32_t Symbolizer::generation(core::ModuleOffset where, bool is_return_address,
                                     core::TimePoint time) {
  const auto known = state_->modules.find(where.module);
  if (known == state_->modules.end() || known->second.module.kind != core::ModuleKind::jit) {
    return 0;
  }
  where.offset -= is_return_address ? 1 : 0;
  const auto generation = state_->names_of(known->second).generation_at(where.offset, time);
  if (generation == 0U) {
    Answer& answer = state_->answers[where];
    if (answer.frames.empty() || !answer.is_final) {
      answer = state_->ask_generation(known->second, 0, where.offset);
    }
  }
  return generation.value_or(0);
}

void Symbolizer::add_generation(core::ModuleId id, core::ModuleId jit, std::uint32_t generation) {
  KnownModule& known = state_->modules[id];
  known.jit = jit;
  known.generation = generation;
}

bool Symbolizer::has_lines(core::ModuleId module) {
  const auto known = state_->modules.find(module);
  return known != state_->modules.end() && state_->names_of(known->second).has_lines();
}

FunctionLines Symbolizer::lines_of(core::ModuleId module, std::uint64_t begin, std::uint64_t end) {
  const auto known = state_->modules.find(module);
  return known == state_->modules.end() ? FunctionLines{}
                                        : state_->names_of(known->second).lines_of({begin, end});
}

}  // namespace sp::symbols
