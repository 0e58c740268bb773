#include "supervisor/instruments/exact/collect_switch.h"

#include <algorithm>
#include <cstdint>

#include "arch/native.h"
#include "supervisor/instruments/exact/counted_thread.h"
#include "supervisor/instruments/module_scan.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// A handler may run on another stack, where a higher address does not mean that the function was
/// left; but left by longjmp, it is not known to be over.
constexpr std::uint64_t kSameStack = std::uint64_t{1} << 20U;

bool has_left(const CountedThread& thread, Address to, Address sp) {
  const CallFrame& frame = *thread.collected_in;
  const bool is_above = sp > frame.sp || (sp == frame.sp && to == frame.returns_to);
  const bool is_in_handler = thread.interrupted.size() > thread.handlers_before;
  return is_above && (!is_in_handler || sp - frame.sp < kSameStack);
}

}  // namespace

void CollectSwitch::find_functions(CountedCode& code, core::ProcessId process, pid_t tid) const {
  const auto scan = is_used() ? ModuleScan::read(process, tid) : std::nullopt;
  if (!scan) {
    return;
  }
  CollectedFunctions& collected = code.collected();
  const auto is_known = [&](core::AddressRange range) {
    return std::find(collected.looked_at.begin(), collected.looked_at.end(), range) !=
           collected.looked_at.end();
  };
  for (const ScannedModule& module : scan->find_wanted(*functions_, is_known)) {
    collected.looked_at.push_back(module.range);
    if (!module.bias) {
      continue;
    }
    for (const core::CandidateFunction& function : functions_->plan(module.file).functions) {
      const Address begin{function.begin + *module.bias};
      if (!function.is_part && module.range.contains(begin)) {
        collected.entries.insert(begin);
      }
    }
  }
}

void CollectSwitch::arrive(Tracee& tracee, const ptrace::Registers& registers) const {
  if (!is_used()) {
    return;
  }
  auto& thread = static_cast<CountedThread&>(*tracee.thread_state);
  auto& code = static_cast<CountedCode&>(*tracee.process->code_state);
  const Address to = Native::pc(registers);
  const Address sp = Native::sp(registers);
  if (thread.collected_in && has_left(thread, to, sp)) {
    thread.collected_in.reset();
  }
  if (!thread.collected_in && code.collected().entries.contains(to)) {
    ThreadMemory memory(tracee.id.tid);
    thread.collected_in = {sp, Native::return_address(registers, memory).value_or(Address{})};
    thread.handlers_before = thread.interrupted.size();
  }
  thread.collects = thread.collected_in.has_value();
}

}  // namespace sp::supervisor
