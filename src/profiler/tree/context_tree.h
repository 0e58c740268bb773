#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/messages.h"
#include "core/module.h"
#include "profiler/namer.h"
#include "profiler/trace/open_frames.h"
#include "profiler/tree/context_nodes.h"
#include "profiler/tree/thread_calls.h"
#include "profiler/tree/tree_functions.h"

namespace sp::profiler {

/// The calling-context tree of a run (--tree): exact calls, from entries and returns of functions
/// that have places, and samples. Both come under the same nodes: of a sampled stack the functions
/// with places are kept, and what the innermost of them has called; all of it where none has any.
/// On the profiler thread.
class ContextTree {
 public:
  using Planned = std::vector<core::TracedFunction<core::ModuleOffset>>;
  struct Options {
    bool by_thread = false;  // a node for each thread, under the root
    bool calls_push = true;  // see OpenFrames::Rules
    ContextNodes::Limits limits{};
    /// The functions of a module that have places; nothing: those that events name.
    std::function<Planned(const core::Module&)> planned{};
  };
  struct Totals {
    ThreadCalls::Tallies calls;
    std::uint64_t samples = 0;
    std::uint64_t truncated = 0;          // of them: outer frames are missing
    std::uint64_t without_stack = 0;      // of them: counted at the root (--trace-prob)
    std::uint64_t folded_samples = 0;     // of them: at another node, see ContextNodes::Place
    std::uint64_t collapsed_samples = 0;  // likewise
    std::uint64_t lost_samples = 0;
    std::uint64_t lost_events = 0;

    /// Changes whenever something is added.
    [[nodiscard]] std::uint64_t news() const {
      return calls.calls + samples + lost_samples + lost_events;
    }
  };

  /// `namer` must outlive it.
  ContextTree(Options options, Namer& namer);

  void add(const core::TraceEventsTaken& taken);
  void add(const core::SampleTaken& sample);
  void add(const core::ModuleSeen& seen);
  void add(const core::SamplesLost& lost) { totals_.lost_samples += lost.samples; }

  [[nodiscard]] const ContextNodes& nodes() const { return nodes_; }
  [[nodiscard]] const TreeFunctions& functions() const { return functions_; }
  /// By_thread: a thread node's site is an index into these.
  [[nodiscard]] const std::vector<core::ThreadId>& threads() const { return threads_; }
  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  struct Module {
    core::Module seen;
    bool is_planned = false;
    core::TimePoint ask_again{};
  };

  [[nodiscard]] std::uint32_t base_of(core::ThreadId thread);
  [[nodiscard]] ThreadCalls& calls_of(core::ThreadId thread);
  [[nodiscard]] ThreadCalls::Site site_before(core::ModuleOffset returns_to) const;
  void plan(core::ModuleId module, core::TimePoint now);
  [[nodiscard]] std::uint32_t function_of(const core::Frame& frame);
  void count_stack(const core::SampleTaken& sample);

  const Options options_;
  Namer& namer_;
  const OpenFrames::Sources sources_;
  ContextNodes nodes_;
  TreeFunctions functions_;
  Totals totals_;
  std::vector<core::ThreadId> threads_;
  std::unordered_map<core::ThreadId, std::uint32_t> thread_numbers_;
  std::unordered_map<core::ThreadId, std::unique_ptr<ThreadCalls>> calls_;
  std::map<core::ModuleId, Module> modules_;
  std::unordered_map<core::ModuleOffset, std::uint32_t> looked_up_;  // function of an address
  std::size_t looked_up_with_ = 0;                                   // functions with places
};

}  // namespace sp::profiler
