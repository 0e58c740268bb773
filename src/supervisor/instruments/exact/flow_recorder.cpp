#include "supervisor/instruments/exact/flow_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

using core::Address;
using core::EdgeFlow;

EdgeCounts::Edge* FlowRecorder::cross(Tracee& tracee, Address from, Address to, EdgeFlow flow,
                                      core::TimePoint now, const ptrace::Registers* registers) {
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  const DynamicBlock& block = discover(tracee, to);
  thread.stepped = block.stepped;
  if (block.stepped) {
    thread.next = code.decode(to);
  }
  if (registers != nullptr) {
    collect_.arrive(tracee, *registers);
  }
  if (block.lengths.empty() || !thread.counts()) {
    return nullptr;  // not executable: the next stop is the fault's signal
  }
  EdgeCounts::Edge& edge = code.edges().at(from, to, flow);
  EdgeCounts::count(edge, now);
  return block.stepped ? nullptr : &edge;
}

void FlowRecorder::enter(Tracee& tracee, Address pc, core::TimePoint now,
                         const ptrace::Registers* registers) {
  cross(tracee, pc, pc, EdgeFlow::entry, now, registers);
}

void FlowRecorder::return_from_syscall(Tracee& tracee, Address pc) {
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  const bool is_stepped = code.extend_after_syscall(pc);
  thread.stepped = thread.stepped || is_stepped;
  if (thread.stepped) {
    thread.next = code.decode(pc);
  }
}

DynamicBlock& FlowRecorder::discover(Tracee& tracee, Address to) {
  CountedCode& code = counted_code(*tracee.process);
  DynamicBlock* const known = code.find(to);
  if (known != nullptr && !known->stepped) {
    return *known;
  }
  if (code.needs_maps(to)) {
    read_maps(*tracee.process, tracee.id);
  }
  return code.discover(to);
}

void FlowRecorder::read_maps(const TracedProcess& process, core::ThreadId thread) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", thread.tid));
  if (!text || text->empty()) {
    return;
  }
  flush(process, thread);  // what was counted means what the maps said until now
  core::MappingSnapshot mapped{core::parse_maps(*text)};
  CountedCode& code = counted_code(process);
  code.set_maps(mapped.maps);
  collect_.find_functions(code, process.id, thread.tid);
  outbox_.deliver({code.owner(), thread, core::Clock::now(), std::move(mapped)});
}

void FlowRecorder::flush(const TracedProcess& process, core::ThreadId thread) {
  CountedCode& code = counted_code(process);
  core::CodeCounted counted = code.take();
  if (!counted.runs.empty() || !counted.edges.empty()) {
    outbox_.deliver({code.owner(), thread, core::Clock::now(), std::move(counted)});
  }
}

}  // namespace sp::supervisor
