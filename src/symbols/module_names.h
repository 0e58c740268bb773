#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/module.h"
#include "symbols/dwarf_lines.h"
#include "symbols/fde_bounds.h"
#include "symbols/plt_names.h"
#include "symbols/symbol_table.h"
#include "symbols/symbolizer.h"

namespace sp::symbols {

/// Symbolizes the addresses of one module.
class ModuleNames {
 public:
  virtual ~ModuleNames() = default;

  /// Innermost first, never empty. `address` is an ELF virtual address, or for JIT code the address
  /// in its process.
  [[nodiscard]] virtual std::vector<NamedFrame> name(std::uint64_t address) = 0;
  /// As Symbolizer::generation(); nothing if no function is known there.
  [[nodiscard]] virtual std::optional<std::uint32_t> generation_at(std::uint64_t /*address*/,
                                                                   core::TimePoint /*time*/) {
    return std::nullopt;
  }
  /// As name(), of the functions of one generation.
  [[nodiscard]] virtual std::vector<NamedFrame> name_in(std::uint32_t /*generation*/,
                                                        std::uint64_t address) {
    return name(address);
  }
  /// Of the function in `range`.
  [[nodiscard]] virtual FunctionLines lines_of(const CodeRange& /*range*/) { return {}; }
  /// False: nothing that it names has a source line.
  [[nodiscard]] virtual bool has_lines() const { return true; }
  /// True if a debug file was looked for and is not there.
  [[nodiscard]] virtual bool lacks_debug_file() const { return false; }
  /// True if an address without a name may have one at a later lookup.
  [[nodiscard]] virtual bool may_learn() const { return false; }
};

/// `root` is the module's own root directory, kept open so that it outlives its process.
[[nodiscard]] std::unique_ptr<ModuleNames> open_module(const core::Module& module,
                                                       const std::string& root,
                                                       const SymbolizerOptions& options);

/// "libc.so.6+0x1234": the base name of the module's path and an offset.
[[nodiscard]] std::string offset_name(const std::string& path, std::uint64_t offset);

}  // namespace sp::symbols
