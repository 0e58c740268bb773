#pragma once

#include <cstdint>
#include <span>

#include "core/address.h"
#include "core/code_references.h"
#include "core/control_flow_graph.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/probes/probed_code.h"

// Breakpoints that a module gets as a whole.
namespace sp::supervisor {

/// Puts breakpoints on the entries of the plan's functions, in the module that is mapped there.
void instrument_module(ProbedCode& code, const core::InstrumentationCandidates& plan,
                       std::uint64_t bias, core::AddressRange mapped, InstrumentedSince since,
                       CodeAnalysis::File file = {});
/// Control comes to stubs from copies, too, which tell nobody: gives those of the module that are
/// in no function an entry breakpoint. Once for each module.
void instrument_stubs(ProbedCode& code, const FunctionIndex::Module& module,
                      std::span<const core::CodeReferences::Stub> stubs);

/// Puts a breakpoint on the loader's function at `address`, which the loader calls after it mapped
/// a file and before it unmaps one (gdb's shared-library event breakpoint).
void insert_loader_breakpoint(ProbedCode& code, core::Address address);
void remove_loader_breakpoint(ProbedCode& code);
/// Puts gates on the instructions behind the loader's calls of mmap.
void insert_mapping_gates(ProbedCode& code, std::span<const core::Address> behind);

}  // namespace sp::supervisor
