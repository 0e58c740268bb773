#pragma once

#include <cstdint>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/module.h"
#include "symbols/symbolizer.h"

namespace sp::profiler {

/// The source of names: a Symbolizer in a run, a table in a test.
class Namer {
 public:
  Namer() = default;
  Namer(const Namer&) = delete;
  Namer& operator=(const Namer&) = delete;
  virtual ~Namer() = default;

  virtual void add_module(const core::Module& module) = 0;
  /// As Symbolizer::name(): innermost inlined function first, never empty.
  [[nodiscard]] virtual const std::vector<symbols::NamedFrame>& name(core::ModuleOffset where,
                                                                     bool is_return_address) = 0;
  /// As Symbolizer::prepare().
  [[nodiscard]] virtual bool prepare(core::ModuleOffset /*where*/) { return true; }
  /// As Symbolizer::ask_server().
  virtual void ask_server() {}
  /// As Symbolizer::generation().
  [[nodiscard]] virtual std::uint32_t generation(core::ModuleOffset /*where*/,
                                                 bool /*is_return_address*/,
                                                 core::TimePoint /*time*/) {
    return 0;
  }
  /// As Symbolizer::add_generation().
  virtual void add_generation(core::ModuleId /*id*/, core::ModuleId /*jit*/,
                              std::uint32_t /*generation*/) {}
  /// As Symbolizer::has_lines().
  [[nodiscard]] virtual bool has_lines(core::ModuleId /*module*/) { return true; }
  /// As Symbolizer::lines_of().
  [[nodiscard]] virtual symbols::FunctionLines lines_of(core::ModuleId /*module*/,
                                                        std::uint64_t /*begin*/,
                                                        std::uint64_t /*end*/) {
    return {};
  }
};

}  // namespace sp::profiler
