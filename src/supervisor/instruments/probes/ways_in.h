#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/code_references.h"
#include "core/control_flow_graph.h"
#include "core/table_hints.h"
#include "supervisor/instruments/probes/probed_code.h"

namespace sp::supervisor {

/// A function's graph, together with what leads into the function from outside.
struct WaysIn {
  core::ControlFlowGraph graph;
  std::vector<core::Address> entries;
  /// No table of another function leads to other places of it.
  bool are_all = false;
  /// Calls or pointers lead to its first instruction, not only jumps.
  bool is_called = true;
};

/// The functions of one module.
class WaysIntoFunctions {
 public:
  /// `references` are those of the file, which is mapped `bias` above its ELF addresses.
  WaysIntoFunctions(ProbedCode& code, CodeAnalysis& analysis,
                    const core::CodeReferences& references, std::uint64_t bias)
      : code_(code), analysis_(analysis), references_(references), bias_(bias) {}

  /// Nothing if a jump may lead into the middle of an instruction: bytes that are no code decode as
  /// jumps, too.
  [[nodiscard]] std::optional<WaysIn> find(const ProbedFunction& function);

 private:
  using Addresses = std::vector<core::Address>;
  /// `more` are entries besides those that references tell of.
  [[nodiscard]] std::optional<WaysIn> find_entries(const ProbedFunction& function,
                                                   const Addresses& more) const;
  [[nodiscard]] core::TableHints hints_for(const ProbedFunction& function) const;
  [[nodiscard]] std::optional<core::Address> last_data_in(core::AddressRange range) const;
  /// `address` is in a function that only jumps of `function` lead to.
  [[nodiscard]] bool is_part_of(const ProbedFunction& function, core::Address address) const;
  /// Direct jumps to addresses within the bounds from elsewhere.
  [[nodiscard]] std::span<const core::CodeReferences::Jump> jumps_into(
      core::AddressRange bounds) const;
  void add_within(core::AddressRange bounds, const std::vector<std::uint64_t>& references,
                  Addresses& to) const;
  [[nodiscard]] bool is_called(core::Address begin) const;
  [[nodiscard]] const JumpsOut& find_jumps_out(ProbedFunction& function);
  /// A function that is only jumped to may be a cold part of those that jump there, whose tables
  /// may lead to other places of it. Adds these; false if they are not known.
  bool add_parts(const ProbedFunction& function, Addresses& entries);

  ProbedCode& code_;
  CodeAnalysis& analysis_;
  const core::CodeReferences& references_;
  std::uint64_t bias_;
};

}  // namespace sp::supervisor
