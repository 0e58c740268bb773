#include "supervisor/instruments/probes/trace_placing.h"

#include <utility>
#include <vector>

namespace sp::supervisor {
namespace {

using State = ProbedFunction::State;

/// Nothing: the site is none of a function's places.
const ProbedFunction* function_of(ProbedCode& code, const BreakpointSite& site) {
  if (site.gate != Gate::none || site.block == BreakpointSite::kSharedLibraryEvent) {
    return nullptr;
  }
  return site.block == BreakpointSite::kNoBlock
             ? std::as_const(code.functions()).at(site.instruction.address)
             : &code.function(code.block_of(site).function);
}

/// The site of a function's first instruction; null where it can have none.
BreakpointSite* entry_of(ProbedCode& code, const ProbedFunction& function) {
  if (function.is_part) {
    return nullptr;
  }
  if (BreakpointSite* const known = code.site_at(function.bounds.begin)) {
    return known;
  }
  const auto first = code.decode(function.bounds.begin);
  return first && first->flow != core::Flow::stop ? &code.entry_site(*first) : nullptr;
}

}  // namespace

void change_spans(ProbedCode& code, const ProbedFunction& function, bool is_end,
                  core::TimePoint now) {
  for (const std::uint32_t number : function.blocks) {
    ProbedBlock& block = code.block(number);
    if (block.probe == core::Address{}) {
      continue;
    }
    if (!is_end) {
      block.since = now;
    } else if (!block.until) {
      block.until = now;
    }
    block.has_unreported_change = true;
  }
}

void remove_places(ProbedCode& code) {
  std::vector<BreakpointSite*> sites;
  for (BreakpointSite* const site : code.inserted_in(BreakpointTable::kEverywhere)) {
    const ProbedFunction* const function = function_of(code, *site);
    if (function != nullptr && !code.trace()->has_places(*function)) {
      sites.push_back(site);
    }
  }
  code.remove_all(std::move(sites));
}

void insert_places(ProbedCode& code, core::TimePoint now) {
  std::vector<BreakpointSite*> sites;
  for (ProbedFunction& function : code.functions().all()) {
    const bool is_mapped = std::as_const(code.functions()).at(function.bounds.begin) == &function;
    if (!is_mapped || !code.trace()->has_places(function)) {
      continue;
    }
    if (function.state == State::instrumented) {
      const auto missing = code.missing_probes(function);
      sites.insert(sites.end(), missing.begin(), missing.end());
      continue;
    }
    BreakpointSite* const entry = entry_of(code, function);
    if (entry != nullptr && !entry->inserted) {
      function.state = State::awaiting_entry;
      function.since = {now, false};
      sites.push_back(entry);
    }
  }
  code.insert_all(std::move(sites));
}

}  // namespace sp::supervisor
