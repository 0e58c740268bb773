#include "commands/dump/named_dump.h"

#include <utility>

namespace sp::dump {
namespace {

void add_calls(std::vector<NamedCall>& calls, const core::Frame& frame, const Modules& modules,
               profiler::Namer& namer) {
  const auto module = modules.find(frame.where.module);
  for (const symbols::NamedFrame& named : namer.name(frame.where, frame.is_return_address)) {
    NamedCall call;
    call.function = named.function;
    if (named.has_symbol && !named.inlined && frame.where.offset >= named.start) {
      call.offset = frame.where.offset - named.start;
    }
    call.module = module != modules.end() ? module->second.path : "[unknown]";
    call.module_offset = frame.where.offset;
    call.source = named.source;
    call.inlined = named.inlined;
    calls.push_back(std::move(call));
  }
}

}  // namespace

NamedDump name_dump(supervisor::ThreadDump dump, const Stacks& stacks, const Modules& modules,
                    profiler::Namer& namer) {
  NamedDump named;
  named.stopped = dump.stopped;
  named.stopped_for = dump.stopped_for;
  for (supervisor::DumpedThread& thread : dump.threads) {
    NamedThread& one = named.threads.emplace_back();
    one.tid = thread.id.tid;
    one.name = std::move(thread.name);
    one.state = thread.state;
    one.syscall = std::move(thread.syscall);
    if (const auto stack = stacks.find(thread.id); stack != stacks.end()) {
      one.has_stack = true;
      one.end = stack->second.end;
      for (const core::Frame& frame : stack->second.frames) {
        add_calls(one.calls, frame, modules, namer);
      }
    }
  }
  return named;
}

}  // namespace sp::dump
