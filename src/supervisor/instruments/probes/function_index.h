#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/mapping.h"
#include "core/stable_vector.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/probes/probed_function.h"

namespace sp::supervisor {

/// The instrumented modules of one address space and their functions, by address. A function keeps
/// its number and its place in memory, also after its module was unmapped. Pure.
class FunctionIndex {
 public:
  struct Module {
    core::AddressRange mapped;
    bool is_whole = false;  // code outside of its known functions is instrumented too
    InstrumentedSince since;
    CodeAnalysis::File file{};
    std::uint64_t bias = 0;                        // to be added to the file's ELF addresses
    std::vector<core::Address> returning_twice{};  // InstrumentationCandidates; sorted
  };

  void add_module(const Module& module) { modules_.push_back(module); }
  /// One that has a byte in `mapped`, or that the program writes to.
  [[nodiscard]] bool has_module(core::AddressRange mapped) const;
  /// What a function was before the program wrote to it.
  struct Before {
    core::AddressRange bounds;
    std::vector<std::byte> bytes;
  };
  /// The program writes to code of a module, which is not to be added until it has. `entered`: the
  /// functions there that have been.
  void begin_writes(core::AddressRange mapped, std::vector<Before> entered);
  [[nodiscard]] std::vector<Before> take_entered(core::AddressRange range);
  /// The function at `start`, when it is added again, is_rewritten.
  void note_rewritten(core::Address start) { rewritten_.insert(start); }
  /// Forgets those whose code cannot be written to any more.
  void end_writes(const std::vector<core::Mapping>& mappings);
  [[nodiscard]] std::vector<core::AddressRange> writes_in(core::AddressRange range) const;
  /// The module that holds `address`, or nullptr.
  [[nodiscard]] const Module* module_at(core::Address address) const;
  /// From the function's end to where the next one begins; empty behind the last.
  [[nodiscard]] core::AddressRange gap_behind(const ProbedFunction& function) const;
  /// Of a module or of its last part: functions there are not found by address any more.
  void remove_module(core::AddressRange mapped);
  /// The modules, or last parts of modules, that are not among `mappings` any more. A linker maps
  /// some libraries in one piece and then changes the access to parts of it.
  [[nodiscard]] std::vector<core::AddressRange> unmapped_modules(
      const std::vector<core::Mapping>& mappings) const;

  /// Adds functions and numbers them in the given order.
  void add(std::vector<ProbedFunction> functions);
  /// No function is found at any address.
  [[nodiscard]] bool empty() const { return by_address_.empty(); }
  [[nodiscard]] const ProbedFunction* at(core::Address address) const;
  [[nodiscard]] ProbedFunction* at(core::Address address);
  /// The numbers of those with a byte in the range.
  [[nodiscard]] std::vector<std::uint32_t> in(core::AddressRange range) const;
  /// at_or_added() can add a function there.
  [[nodiscard]] bool is_in_whole_module(core::Address address) const;
  /// From now on code may be executed that nobody sees: a function that is found later may already
  /// have been entered.
  void note_unseen() { is_all_seen_ = false; }
  /// Since when a function is instrumented that is only found now.
  [[nodiscard]] InstrumentedSince since_of_found(const Module& module) const {
    return {module.since.time, module.since.is_new && is_all_seen_};
  }
  /// The function at `address`. If there is none but the module is instrumented as a whole (code
  /// without a symbol, such as a linker's stub), a new function from `address` up to the next one.
  [[nodiscard]] ProbedFunction* at_or_added(core::Address address);

  [[nodiscard]] ProbedFunction& operator[](std::uint32_t number) { return functions_[number]; }
  /// All functions, by number.
  [[nodiscard]] core::StableVector<ProbedFunction>& all() { return functions_; }
  [[nodiscard]] const core::StableVector<ProbedFunction>& all() const { return functions_; }
  /// Which files were mapped when the analyzer was told last: a number that ModuleProbes computes.
  [[nodiscard]] std::uint64_t& files_told() { return files_told_; }

 private:
  using Numbers = std::vector<std::uint32_t>;
  /// The first function that begins above `address`.
  [[nodiscard]] Numbers::const_iterator first_above(core::Address address) const;
  [[nodiscard]] const Module* whole_module_at(core::Address address) const;

  std::vector<Module> modules_;
  struct Written {
    core::AddressRange mapped;
    bool is_over = false;  // it writes so often that the module is not added any more
    std::vector<Before> entered{};
  };
  std::vector<Written> written_;
  std::unordered_set<core::Address> rewritten_;
  std::unordered_map<core::Address, int> times_written_;  // by a module's first address
  core::StableVector<ProbedFunction> functions_;
  Numbers by_address_;  // functions of the modules, by their bounds
  bool is_all_seen_ = true;
  std::uint64_t files_told_ = 0;
};

}  // namespace sp::supervisor
