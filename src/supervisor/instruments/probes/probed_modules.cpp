#include "supervisor/instruments/probes/probed_modules.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "supervisor/instruments/probes/coverage.h"
#include "supervisor/instruments/probes/function_trace.h"

namespace sp::supervisor {

using core::Address;

namespace {

using Controlled = std::vector<CodeAnalysis::ControlledFunction>;

/// Where the compiler tells where it calls its handler.
std::vector<EventSled> events_of(const std::vector<core::Sled>& sleds, std::uint64_t bias) {
  std::vector<EventSled> events;
  for (const core::Sled& sled : sleds) {
    const std::size_t call = arch::Native::sled_shape(sled.kind, sled.version).call;
    if (call != 0) {
      const Address begin{sled.address + bias};
      events.push_back({sled.kind, begin, begin + call});
    }
  }
  return events;
}

std::vector<Address> with_bias(const std::vector<std::uint64_t>& addresses, std::uint64_t bias) {
  std::vector<Address> moved;
  moved.reserve(addresses.size());
  for (const std::uint64_t address : addresses) {
    moved.push_back(Address{address + bias});
  }
  return moved;
}

/// `controlled` by begin.
void take_control(ProbedFunction& function, const Controlled& controlled, std::uint64_t begin,
                  std::uint64_t bias, const FunctionTrace* recorder) {
  const auto found = std::lower_bound(
      controlled.begin(), controlled.end(), begin,
      [](const CodeAnalysis::ControlledFunction& one, std::uint64_t at) { return one.begin < at; });
  if (found != controlled.end() && found->begin == begin) {
    function.triggers = found->triggers;
    function.id = found->id;
    function.is_unpatched = found->is_unpatched;
    if (recorder != nullptr && recorder->keeps_values()) {
      function.logs_argument = found->logs_argument;
      function.events = events_of(found->events, bias);
    }
  }
}

}  // namespace

void instrument_module(ProbedCode& code, const core::InstrumentationCandidates& plan,
                       std::uint64_t bias, core::AddressRange mapped, InstrumentedSince since,
                       CodeAnalysis::File file) {
  const auto controlled =
      code.trace() && file.image ? code.analysis().controlled(file) : Controlled{};
  code.copies().forget_targets(mapped);
  code.functions().add_module(
      {mapped, plan.is_whole, since, std::move(file), bias, with_bias(plan.returning_twice, bias)});
  std::vector<ProbedFunction> functions;
  std::vector<BreakpointSite*> entries;
  std::vector<Address> known;  // with code that was reached elsewhere, or not from its entry
  functions.reserve(plan.functions.size());
  entries.reserve(plan.functions.size());
  CoveredFile* const covered = code.covered_file(mapped.begin);
  for (const core::CandidateFunction& planned : plan.functions) {
    const core::AddressRange bounds{Address{planned.begin + bias}, Address{planned.end + bias}};
    if (!mapped.contains(bounds.begin) || bounds.end > mapped.end) {
      continue;
    }
    const auto first = code.decode(bounds.begin);
    if (!first) {
      continue;
    }
    ProbedFunction& function = functions.emplace_back();
    function.bounds = bounds;
    function.landing_pads = with_bias(planned.landing_pads, bias);
    function.since = since;
    function.is_part = planned.is_part && code.trace().has_value();
    function.is_resolver = planned.is_resolver;
    function.has_exits = planned.is_resolver || !code.trace() || code.trace()->has_exits;
    take_control(function, controlled, planned.begin, bias,
                 code.trace() ? code.trace()->recorder : nullptr);
    if (covered != nullptr && covered->told.insert(planned.begin).second) {
      code.untold_functions().push_back({bounds.begin, bounds.size(), {}});
    }
    // A cold part may be entered at a landing pad in its middle.
    const bool is_entered_anywhere = planned.is_part && !planned.landing_pads.empty();
    if (covered != nullptr &&
        (is_entered_anywhere || covered->reached.has_any_in(planned.begin, planned.end))) {
      known.push_back(bounds.begin);
    } else if (first->flow != core::Flow::stop && !function.is_part &&
               (!code.trace() || code.trace()->has_places(function))) {
      entries.push_back(&code.entry_site(*first));
    }
  }
  code.functions().add(std::move(functions));
  code.insert_all(std::move(entries));
  for (const Address begin : known) {
    code.instrument_function(std::span(&begin, 1), std::nullopt);
  }
  if (!since.time) {
    // By now what is found in the background may be there.
    for (const Address begin : known) {
      resolve_known_jumps(code, begin);
    }
  }
}

void insert_loader_breakpoint(ProbedCode& code, Address address) {
  const auto instruction = code.decode(address);
  if (!instruction) {
    return;
  }
  BreakpointSite& site = code.entry_site(*instruction);
  if (!site.inserted) {  // it is, if the loader itself is instrumented
    site.block = BreakpointSite::kSharedLibraryEvent;
    (void)code.insert(site);
  }
  code.loader_breakpoint() = site.inserted ? address : Address{};
}

void remove_loader_breakpoint(ProbedCode& code) {
  BreakpointSite* const site = code.inserted_at(code.loader_breakpoint());
  if (site != nullptr && site->block == BreakpointSite::kSharedLibraryEvent) {
    (void)code.remove(*site);
  }
  code.loader_breakpoint() = {};
}

void insert_mapping_gates(ProbedCode& code, std::span<const Address> behind) {
  std::vector<BreakpointSite*> gates;
  for (const Address at : behind) {
    const auto instruction = code.decode(at);
    if (BreakpointSite* const site = instruction ? code.gate_site(*instruction) : nullptr) {
      site->gate = Gate::behind_mmap;
      gates.push_back(site);
    }
  }
  code.insert_all(std::move(gates));
}

void instrument_stubs(ProbedCode& code, const FunctionIndex::Module& module,
                      std::span<const core::CodeReferences::Stub> stubs) {
  if (!module.is_whole || !code.modules_with_stubs().insert(module.mapped.begin).second) {
    return;
  }
  const InstrumentedSince since = code.functions().since_of_found(module);
  const std::uint64_t bias = module.bias;
  std::vector<ProbedFunction> functions;
  std::vector<BreakpointSite*> entries;
  for (const core::CodeReferences::Stub& stub : stubs) {
    const core::AddressRange bounds{Address{stub.begin + bias}, Address{stub.end + bias}};
    const auto first =
        code.functions().at(bounds.begin) == nullptr ? code.decode(bounds.begin) : std::nullopt;
    if (first) {
      functions.emplace_back().bounds = bounds;
      functions.back().since = since;
      entries.push_back(&code.entry_site(*first));
    }
  }
  code.functions().add(std::move(functions));
  code.insert_all(std::move(entries));
}

}  // namespace sp::supervisor
