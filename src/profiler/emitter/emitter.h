#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/clock.h"
#include "core/module.h"
#include "core/run_facts.h"
#include "core/trace_request.h"
#include "profiler/crash/named_crash.h"
#include "profiler/emitter/emit_budget.h"
#include "profiler/emitter/emit_lines.h"
#include "profiler/emitter/emit_options.h"
#include "profiler/emitter/reader_socket.h"
#include "profiler/formats/tree_nodes.h"
#include "profiler/namer.h"
#include "profiler/tree/context_tree.h"
#include "profiler/tree/tree_ids.h"

namespace sp::profiler {

/// Sends what is new in a tree to a reader (--emit), in lines. At most one profile is in flight:
/// the next one is made when the reader has taken it, and has all that came meanwhile. One that
/// broke off is sent again as it was, with its number, to the next reader. On the profiler thread,
/// which it never blocks but in finish().
class Emitter {
 public:
  static constexpr core::Duration kStep = std::chrono::milliseconds(10);
  static constexpr core::Duration kLongestFinish = std::chrono::seconds(2);

  struct Run {
    core::TimePoint started{};
    std::string version;  // of superprofiler
    std::function<core::RunFacts()> facts_now;
  };

  /// `tree`, `ids` and `namer` must outlive it.
  Emitter(EmitOptions options, Run run, const ContextTree& tree, TreeIds& ids, Namer& namer);

  /// Modules have come; hello tells them.
  void add(const core::Module& module);
  /// A process dies of a signal; sent at once.
  void add(const NamedCrash& crash);
  /// Calls are switched off or on: sent at once. Of other requests nothing is told.
  void tell(const core::TraceRequest& change);
  /// Sends a profile as soon as the reader takes one, as if it had asked for it.
  void send_now() { ++pulls_; }
  /// How long to wait for the next step().
  [[nodiscard]] core::Duration interval() const { return std::min(kStep, options_.every); }
  void step(core::TimePoint now);
  /// Sends the rest and how the program ended. Waits for the reader for kLongestFinish at most.
  /// False: it has not got all.
  [[nodiscard]] bool finish(const core::RunFacts& facts);

 private:
  void advance(core::TimePoint now, bool is_last);
  void greet();
  [[nodiscard]] bool has_news() const { return tree_.totals().news() != told_.news(); }
  [[nodiscard]] bool is_due(core::TimePoint now) const;
  void send_profile(core::TimePoint now);
  /// Sends events_, behind the profile of what led to them.
  void send_events(core::TimePoint now);
  [[nodiscard]] std::string profile(core::TimePoint now);
  /// The line for functions in `news` that the reader does not know; "" if it knows all.
  [[nodiscard]] std::string new_symbols(const std::vector<NodeCounts>& news);
  /// The line for those of named_ from `first` on; "" if there are none.
  [[nodiscard]] std::string symbols_from(std::size_t first);
  [[nodiscard]] EmitSymbol symbol(core::ModuleOffset start);
  [[nodiscard]] bool send_rest(const core::RunFacts& facts, bool hurries);

  const EmitOptions options_;
  const Run run_;
  const ContextTree& tree_;
  TreeIds& ids_;
  Namer& namer_;
  const std::uint64_t run_id_;
  ReaderSocket socket_;
  EmitBudget budget_;
  std::vector<core::Module> modules_;
  bool needs_hello_ = true;
  std::vector<NodeCounts> sent_;      // by node: what profiles have told
  ContextTree::Totals told_{};        // likewise
  std::vector<std::uint32_t> named_;  // functions that symbols have told, in this order
  std::unordered_set<std::uint32_t> is_named_;
  std::string symbols_;                // to be sent in front of the next profile
  std::optional<std::string> flight_;  // a profile and events that were not taken yet
  std::string events_;                 // to be sent next
  std::set<int> crashed_;              // pids that events have told
  bool is_ended_ = false;              // what comes last was put
  int pid_ = 0;
  std::uint64_t pulls_ = 0;
  std::uint64_t seq_ = 0;
  core::TimePoint until_;  // of the last profile
};

}  // namespace sp::profiler
