#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "supervisor/instruments/probes/module_probes.h"
#include "supervisor/instruments/probes/written_probes.h"

// What a program does with mprotect before and after it writes to its code.
namespace sp::supervisor {
namespace {

std::vector<std::byte> bytes_of(ProbedCode& code, core::AddressRange bounds) {
  std::vector<std::byte> bytes(bounds.size());
  bytes.resize(code.fetch(bounds.begin, bytes));
  return bytes;
}

/// The entered functions with a byte in the range.
std::vector<FunctionIndex::Before> entered_in(ProbedCode& code, core::AddressRange range) {
  std::vector<FunctionIndex::Before> entered;
  for (const std::uint32_t number : code.functions().in(range)) {
    const ProbedFunction& function = code.function(number);
    if (function.state == ProbedFunction::State::instrumented) {
      entered.push_back({function.bounds, bytes_of(code, function.bounds)});
    }
  }
  return entered;
}

core::AddressRange shared(core::AddressRange a, core::AddressRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

void ModuleProbes::expect_writes(TracedProcess& process, pid_t tid, core::AddressRange range) {
  ProbedCode& code = probed_code(process);
  const bool traces = code.trace() && reads_written(code);
  if (!traces || !code.is_instrumented(range)) {
    return;
  }
  const auto modules = to_be_read_again(code, code.inserted_in(range));
  if (!modules.empty()) {
    const core::TimePoint now = core::Clock::now();
    for (const core::AddressRange mapped : modules) {
      end_entered(code, mapped, now);
    }
    flush(process, {tid, 0}, modules);
  }
  for (const core::AddressRange mapped : modules) {
    auto entered = entered_in(code, shared(mapped, range));
    forget_written_module(code, mapped);
    code.functions().begin_writes(mapped, std::move(entered));
  }
  // Modules with gates.
  leave_probes(code, code.inserted_in(range), core::Clock::now());
}

void ModuleProbes::read_written(TracedProcess& process, pid_t tid, core::AddressRange range) {
  ProbedCode& code = probed_code(process);
  for (BreakpointSite* const site : code.inserted_in(range)) {
    code.take_former_code(*site);
  }
  const auto overwritten = code.overwritten_in(range);
  if (!reads_written(code)) {
    leave_probes(code, overwritten, core::Clock::now());
    return;
  }
  auto written = code.functions().writes_in(range);
  if (overwritten.empty() && written.empty()) {
    return;
  }
  const auto again = to_be_read_again(code, overwritten);
  written.insert(written.end(), again.begin(), again.end());
  flush(process, {tid, 0}, again);
  for (const core::AddressRange mapped : written) {
    forget_written_module(code, mapped);  // also what was read of it in the meantime
  }
  for (const FunctionIndex::Before& before : code.functions().take_entered(range)) {
    if (bytes_of(code, before.bounds) != before.bytes) {
      code.functions().note_rewritten(before.bounds.begin);
    }
  }
  if (!written.empty()) {
    update(process, tid, When::at_attach);
  }
}

}  // namespace sp::supervisor
