#include "supervisor/instruments/probes/open_functions.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "supervisor/instruments/probes/frames_before.h"
#include "supervisor/instruments/probes/stack_search.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/world_stop.h"
#include "supervisor/unwinding/native_frames.h"

namespace sp::supervisor {
namespace {

using core::Address;

/// Collects where functions are to be instrumented.
class OpenFunctions {
 public:
  explicit OpenFunctions(ProbedCode& code) : code_(code) {}

  /// A thread is at the instruction at `at`, or comes back to `reached` behind it.
  void note(Address at, Address reached) {
    const ProbedFunction* const function = std::as_const(code_.functions()).at(at);
    if (function == nullptr || !code_.needs_instrumentation(reached)) {
      return;
    }
    if (function->is_part) {
      places_.insert(reached);
    } else if (function->state == ProbedFunction::State::awaiting_entry) {
      places_.insert(function->bounds.begin);
    }
  }
  void note_word(Address word) {
    if (words_.insert(word).second && is_behind_call(word)) {
      note(word - 1, word);
    }
  }
  [[nodiscard]] const std::set<Address>& places() const { return places_; }

 private:
  [[nodiscard]] bool is_behind_call(Address word) const {
    std::array<std::byte, 8> before{};
    return code_.memory().read(word - before.size(), before) == before.size() &&
           NativeFrames::ends_in_call(before);
  }

  ProbedCode& code_;
  std::unordered_set<Address> words_;
  std::set<Address> places_;
};

}  // namespace

void instrument_open_functions(ProbedCode& code, TraceeTable& tracees, const Tracee& stopped,
                               bool in_hit) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", stopped.id.tid));
  auto world = WorldStop::stop(tracees, stopped, kLongestWorldStop);
  if (!text || !world) {
    return;
  }
  std::vector<core::Mapping> maps = core::parse_maps(*text);
  OpenFunctions open(code);
  StackSearch search(code, maps, [&](Address word) { open.note_word(word); });
  for (const Tracee* const tracee : tracees.in(code)) {
    const auto registers =
        world->holds(tracee->id.tid) ? ptrace::registers(tracee->id.tid) : core::fail("");
    if (registers) {
      open.note(arch::Native::pc(*registers), arch::Native::pc(*registers));
    }
    if (const auto sp = stack_pointer(tracee->id.tid, *world); sp && !search.look_above(*sp)) {
      break;
    }
  }
  for (const Address place : open.places()) {
    code.instrument_function(std::span(&place, 1), std::nullopt);
  }
  // From here on who wakes does not return unseen.
  if (code.trace() && code.trace()->recorder != nullptr && world->stop_woken(kLongestWorldStop)) {
    note_frames_before(code, tracees, *world, std::move(maps), stopped, in_hit);
  }
}

}  // namespace sp::supervisor
