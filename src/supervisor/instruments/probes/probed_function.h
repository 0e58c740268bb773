#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/function_copy.h"
#include "core/sled.h"

namespace sp::supervisor {

/// Since when a module or a function is instrumented.
struct InstrumentedSince {
  std::optional<core::TimePoint> time;  // nullopt: from the process's first instruction
  bool is_new = true;                   // false: threads may already execute its code
};

/// What a function does outside of itself.
struct JumpsOut {
  bool are_known = false;  // all of them
  std::vector<core::Address> destinations;
};

/// The sled of an event of the program's own (XRay).
struct EventSled {
  core::SledKind kind = core::SledKind::custom_event;
  core::Address begin;  // of a jump over it, unless it is switched on
  core::Address call;   // of the event's handler
};

/// A function of an instrumented module.
struct ProbedFunction {
  enum class State : std::uint8_t {
    awaiting_entry,  // a breakpoint on its first instruction
    instrumented,    // breakpoints in its blocks
    uninstrumented,  // none
    copied,          // it runs from an instrumented copy
  };

  std::uint32_t number = 0;  // in the FunctionIndex
  core::AddressRange bounds;
  bool is_part = false;              // of another function, which jumps to it (--trace)
  std::vector<std::uint32_t> parts;  // of it, with places
  bool has_exits = true;             // where it is left is a place, too (--trace)
  bool is_resolver = false;          // of an IFUNC
  bool has_known_end = true;  // false: of code without a symbol, which ends where its blocks do
  std::vector<core::Address> landing_pads;  // traced: and where setjmp returns
  State state = State::awaiting_entry;
  std::vector<core::Address> unresolved;  // indirect jumps with unknown targets
  bool are_jumps_looked_at = false;       // whether they may lead to unknown places
  bool has_known_jumps = false;           // --coverage: it has none, although its code shows some
  std::vector<std::uint32_t> blocks;      // numbers, in the order of discovery
  InstrumentedSince since;
  std::shared_ptr<const JumpsOut> jumps_out;  // null: not looked for
  std::uint32_t explorations = 0;
  std::uint64_t hits = 0;                      // of its probes; HotFunctions
  std::optional<core::TimePoint> due_since;    // it is worth a copy
  bool awaits_copy = false;                    // it is getting one, and so no probes
  std::uint64_t landings = 0;                  // at breakpoints, while it runs from a copy
  std::optional<core::CopyRefusal> refusal;    // it cannot run from a copy
  std::optional<core::TimePoint> trace_until;  // --trace: its events ended
  bool is_overwritten = false;                 // --trace: a place of it, by the program
  bool is_rewritten = false;                   // the program has changed it after it was entered
  std::uint32_t triggers = 0;                  // bits: those of --trigger that name it
  std::uint64_t id = 0;                        // of TraceRequest::functions; 0: of none
  bool is_unpatched = false;                   // such a request has taken its places away
  bool logs_argument = false;                  // --trace: the first one, of each call
  std::vector<EventSled> events;               // --trace: those in its code
};

}  // namespace sp::supervisor
