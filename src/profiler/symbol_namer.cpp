#include "profiler/symbol_namer.h"

#include <utility>

namespace sp::profiler {

SymbolNamer::SymbolNamer(symbols::SymbolizerOptions options) : symbolizer_(std::move(options)) {}

void SymbolNamer::add_module(const core::Module& module) { symbolizer_.add_module(module); }

const std::vector<symbols::NamedFrame>& SymbolNamer::name(core::ModuleOffset where,
                                                          bool is_return_address) {
  return symbolizer_.name(where, is_return_address);
}

}  // namespace sp::profiler
