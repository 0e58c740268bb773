#pragma once

#include <vector>

#include "profiler/namer.h"
#include "symbols/symbolizer.h"

namespace sp::profiler {

/// Names from the files that the target executes. For one thread only (see Symbolizer).
class SymbolNamer final : public Namer {
 public:
  explicit SymbolNamer(symbols::SymbolizerOptions options);

  void add_module(const core::Module& module) override;
  [[nodiscard]] const std::vector<symbols::NamedFrame>& name(core::ModuleOffset where,
                                                             bool is_return_address) override;
  [[nodiscard]] bool prepare(core::ModuleOffset where) override {
    return symbolizer_.prepare(where);
  }
  void ask_server() override { symbolizer_.ask_server(); }
  [[nodiscard]] std::uint32_t generation(core::ModuleOffset where, bool is_return_address,
                                         core::TimePoint time) override {
    return symbolizer_.generation(where, is_return_address, time);
  }
  void add_generation(core::ModuleId id, core::ModuleId jit, std::uint32_t generation) override {
    symbolizer_.add_generation(id, jit, generation);
  }
  [[nodiscard]] bool has_lines(core::ModuleId module) override {
    return symbolizer_.has_lines(module);
  }
  [[nodiscard]] symbols::FunctionLines lines_of(core::ModuleId module, std::uint64_t begin,
                                                std::uint64_t end) override {
    return symbolizer_.lines_of(module, begin, end);
  }

 private:
  symbols::Symbolizer symbolizer_;
};

}  // namespace sp::profiler
