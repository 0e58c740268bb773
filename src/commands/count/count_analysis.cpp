#include "commands/count/count_analysis.h"

#include <algorithm>

#include "symbols/demangle.h"
#include "symbols/ifunc_slots.h"

namespace sp::count {

CountAnalysis::CountAnalysis(const FunctionPatterns& patterns)
    : patterns_(patterns), inner_({{}, {}, patterns.debug_directories()}) {}

core::InstrumentationCandidates CountAnalysis::plan(const File& file) {
  const std::string& identity = file.image->identity();
  const NamedFile named{file.path, file.root, file.is_program, file.image};
  const WantedFunctions wanted = patterns_.find(named);
  core::InstrumentationCandidates plan = inner_.plan(file);
  plan.is_whole = false;
  std::erase_if(plan.functions, [&](const core::CandidateFunction& function) {
    return !function.is_part && !wanted.contains(function.begin);
  });
  const std::lock_guard lock(mutex_);
  files_.emplace(identity, named);
  for (core::CandidateFunction& function : plan.functions) {
    const auto found = wanted.find(function.begin);
    if (found == wanted.end()) {
      continue;
    }
    function.is_part = false;  // it has a name
    function.is_resolver = found->second.is_ifunc;
    if (function.is_resolver) {
      ifuncs_.emplace(Key{identity, function.begin}, found->second.name);
    } else {
      counted_.emplace(Key{identity, function.begin},
                       Counted{found->second.name, file.path, core::Clock::now()});
    }
  }
  return plan;
}

std::vector<core::IfuncSlot> CountAnalysis::ifunc_slots(const File& file) {
  const std::string& identity = file.image->identity();
  const auto [known, is_new] = slots_.try_emplace(identity);
  if (is_new) {
    known->second = symbols::find_function_slots(symbols::ElfSections(file.image));
  }
  std::vector<core::IfuncSlot> slots;
  for (const core::IfuncSlot& slot : known->second) {
    const std::string& name = slot.ifunc.name;
    const bool is_wanted = name.empty()
                               ? ifuncs_.contains({identity, slot.ifunc.resolver})
                               : std::any_of(ifuncs_.begin(), ifuncs_.end(),
                                             [&](const auto& one) { return one.second == name; });
    if (is_wanted) {
      slots.push_back(slot);
    }
  }
  return slots;
}

std::optional<core::CandidateFunction> CountAnalysis::resolved(const File& file, std::uint64_t at,
                                                               const core::Ifunc& ifunc) {
  const std::string& identity = file.image->identity();
  const auto known = ifunc.name.empty()
                         ? ifuncs_.find({identity, ifunc.resolver})
                         : std::find_if(ifuncs_.begin(), ifuncs_.end(), [&](const auto& one) {
                             return one.first.first == identity && one.second == ifunc.name;
                           });
  if (known == ifuncs_.end()) {
    return std::nullopt;
  }
  const auto functions = inner_.plan(file).functions;
  const auto function = std::find_if(functions.begin(), functions.end(),
                                     [at](const auto& one) { return one.begin == at; });
  if (function == functions.end()) {
    return std::nullopt;  // a stub of the linker's: it is not resolved yet
  }
  const std::lock_guard lock(mutex_);
  counted_.insert_or_assign(Key{identity, at},
                            Counted{known->second, file.path, core::Clock::now()});
  return *function;
}

std::optional<CountAnalysis::Counted> CountAnalysis::counted_at(const core::Module& module,
                                                                std::uint64_t offset) const {
  if (!module.image) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  const auto found = counted_.find({module.image->identity(), offset});
  return found == counted_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<CountAnalysis::Counted> CountAnalysis::counted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Counted> all;
  for (const auto& [key, one] : counted_) {
    all.push_back(one);
  }
  return all;
}

std::vector<NamedFile> CountAnalysis::files() const {
  const std::lock_guard lock(mutex_);
  std::vector<NamedFile> all;
  for (const auto& [identity, file] : files_) {
    all.push_back(file);
  }
  return all;
}

}  // namespace sp::count
