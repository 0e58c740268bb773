#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/function_trace.h"
#include "profiler/trace/open_frames.h"
#include "profiler/tree/context_nodes.h"
#include "profiler/tree/tree_functions.h"

namespace sp::profiler {

/// The calls of one thread, from its events to nodes of a tree.
class ThreadCalls final : public CallVisitor {
 public:
  struct Tallies {
    std::uint64_t calls = 0;
    std::uint64_t folded = 0;     // of them: counted at another node, see ContextNodes::Place
    std::uint64_t collapsed = 0;  // likewise
  };
  /// Where a call returns to.
  struct Site {
    core::ModuleOffset call;                       // one byte in front of that
    std::uint32_t function = ContextNodes::kNone;  // with places, that holds it
  };

  /// `base` is the node that the thread's outermost calls come under. All references must outlive
  /// it.
  ThreadCalls(ContextNodes& nodes, const TreeFunctions& functions, std::uint32_t base,
              const OpenFrames::Rules& rules, const OpenFrames::Sources& sources, Tallies& tallies)
      : nodes_(nodes),
        functions_(functions),
        base_(base),
        tallies_(tallies),
        frames_(0, rules, sources, *this) {}

  /// `event.function` is a number of the tree's functions. `site`: of an entry or open frame.
  void add(const core::TraceEvent& event, const Site* site);
  void lose(std::uint64_t events) { frames_.lose(events); }
  /// The nodes that a sample of the thread has shown it in, outermost first: among them are those
  /// of calls that were entered before anybody looked.
  void set_path(std::vector<std::uint32_t> path) { path_ = std::move(path); }

  void begin(const TracedCall& call) override;
  void end(const TracedCall& call) override;

 private:
  [[nodiscard]] std::uint32_t caller(std::uint32_t innermost) const;
  [[nodiscard]] std::uint32_t enter(std::uint32_t parent, std::uint32_t function);

  ContextNodes& nodes_;
  const TreeFunctions& functions_;
  const std::uint32_t base_;
  Tallies& tallies_;
  OpenFrames frames_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> open_;  // by stack: nodes of open frames
  std::vector<std::uint32_t> path_;
  const Site* site_ = nullptr;  // of the entry that is being added
  bool is_open_ = false;        // it is a frame that was open before: no call
};

}  // namespace sp::profiler
