#include "supervisor/instruments/probes/ifuncs.h"

#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;

void add_resolved(ProbedCode& code, Address at, const core::Ifunc& ifunc) {
  const FunctionIndex::Module* const module = code.functions().module_at(at);
  if (module == nullptr || module->file.image == nullptr || !code.may_insert()) {
    return;
  }
  const auto planned = code.analysis().resolved(module->file, at.value() - module->bias, ifunc);
  const ProbedFunction* const known = code.functions().at(at);
  const auto first = planned && known == nullptr ? code.decode(at) : std::nullopt;
  if (!first || first->flow == core::Flow::stop) {
    return;
  }
  ProbedFunction function;
  function.bounds = {at, Address{planned->end + module->bias}};
  function.has_exits = code.trace() && code.trace()->has_exits;
  function.since = code.functions().since_of_found(*module);
  std::vector<ProbedFunction> one;
  one.push_back(std::move(function));
  code.functions().add(std::move(one));
  (void)code.insert(code.entry_site(*first));
}

}  // namespace

void note_resolved(ProbedCode& code, const ProbedFunction& resolver, Address at) {
  const FunctionIndex::Module* const module = code.functions().module_at(resolver.bounds.begin);
  if (module != nullptr) {
    add_resolved(code, at, {resolver.bounds.begin.value() - module->bias, {}});
  }
}

void find_resolved(ProbedCode& code, const ModuleScan& scan) {
  if (!code.analysis().has_ifuncs()) {
    return;
  }
  for (const ScannedModule& module : scan.find_all()) {
    for (const core::IfuncSlot& slot : code.analysis().ifunc_slots(module.file)) {
      std::array<std::byte, sizeof(std::uint64_t)> word{};
      if (code.fetch(Address{slot.address + *module.bias}, word) == word.size()) {
        add_resolved(code, Address{std::bit_cast<std::uint64_t>(word)}, slot.ifunc);
      }
    }
  }
}

}  // namespace sp::supervisor
