#include "supervisor/instruments/probes/unknown_frames.h"

#include <fmt/format.h>

#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/stack_search.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

void find_interrupted(ProbedCode& code, TraceeTable& tracees, WorldStop& world) {
  if (!code.has_unknown_frames()) {
    return;
  }
  const auto threads = tracees.in(code);
  const auto text = threads.empty()
                        ? core::fail("")
                        : read_proc(fmt::format("/proc/{}/maps", threads.front()->id.tid));
  if (!text) {
    return;
  }
  StackSearch search(code, core::parse_maps(*text),
                     [&code](core::Address word) { code.note_interrupted(word); });
  for (const Tracee* const tracee : threads) {
    auto sp = stack_pointer(tracee->id.tid, world);
    if (!sp && world.stop_woken(kLongestWorldStop)) {
      sp = stack_pointer(tracee->id.tid, world);
    }
    if (!sp || !search.look_above(*sp)) {
      return;
    }
  }
  code.has_unknown_frames() = false;
}

}  // namespace sp::supervisor
