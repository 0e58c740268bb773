#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/count/function_patterns.h"
#include "commands/record/static_analysis.h"
#include "core/clock.h"
#include "core/module.h"
#include "supervisor/instruments/code_analysis.h"

namespace sp::count {

/// Code analysis that plans the functions that patterns name, and nothing else. For the ptrace
/// thread, but for what says otherwise.
class CountAnalysis final : public supervisor::CodeAnalysis {
 public:
  explicit CountAnalysis(const FunctionPatterns& patterns);

  [[nodiscard]] bool wants(const File& file) override {
    return patterns_.wants(file.path, file.is_program);
  }
  [[nodiscard]] bool wants_libraries() override { return patterns_.wants_libraries(); }
  [[nodiscard]] core::InstrumentationCandidates plan(const File& file) override;
  [[nodiscard]] core::ControlFlowGraph map(core::AddressRange bounds, std::uint64_t bias,
                                           std::span<const core::Address> leaders, const Read& read,
                                           const core::TableHints* hints) override {
    return inner_.map(bounds, bias, leaders, read, hints);
  }
  [[nodiscard]] const core::CodeReferences* references(const File& file) override {
    return inner_.references(file);
  }
  [[nodiscard]] bool jumps_through_pointers(const core::ControlFlowGraph& graph,
                                            core::AddressRange bounds,
                                            std::span<const std::byte> code) override {
    return inner_.jumps_through_pointers(graph, bounds, code);
  }
  [[nodiscard]] tl::expected<core::FunctionCopy, core::CopyRefusal> copy(
      const core::FunctionToCopy& function, const core::CopyPlace& place) override {
    return inner_.copy(function, place);
  }
  [[nodiscard]] std::optional<std::uint64_t> symbol(const File& file,
                                                    std::string_view name) override {
    return inner_.symbol(file, name);
  }
  [[nodiscard]] bool has_ifuncs() override { return !ifuncs_.empty(); }
  [[nodiscard]] std::vector<core::IfuncSlot> ifunc_slots(const File& file) override;
  [[nodiscard]] std::optional<core::CandidateFunction> resolved(const File& file, std::uint64_t at,
                                                                const core::Ifunc& ifunc) override;

  /// A function that is counted.
  struct Counted {
    std::string name;
    std::string module;       // path
    core::TimePoint planned;  // just before it got its breakpoint in the first process
  };
  /// The function that begins there; nothing if it is not counted by that name. Any thread.
  [[nodiscard]] std::optional<Counted> counted_at(const core::Module& module,
                                                  std::uint64_t offset) const;
  /// No file has a function that a pattern names. After the run.
  [[nodiscard]] bool has_nothing() const { return counted_.empty() && ifuncs_.empty(); }
  /// All of the files that were planned. Any thread.
  [[nodiscard]] std::vector<Counted> counted() const;
  /// The files that were planned. Any thread.
  [[nodiscard]] std::vector<NamedFile> files() const;

 private:
  /// A file's identity, and a function's ELF address.
  using Key = std::pair<std::string, std::uint64_t>;

  const FunctionPatterns& patterns_;
  record::StaticAnalysis inner_;
  std::map<Key, std::string> ifuncs_;                          // by their resolvers: names
  std::map<std::string, std::vector<core::IfuncSlot>> slots_;  // by identity

  mutable std::mutex mutex_;
  std::map<Key, Counted> counted_;          // under mutex_
  std::map<std::string, NamedFile> files_;  // likewise, by identity
};

}  // namespace sp::count
