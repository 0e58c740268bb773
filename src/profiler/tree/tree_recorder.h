#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "profiler/crash/named_crash.h"
#include "profiler/emitter/emitter.h"
#include "profiler/namer.h"
#include "profiler/output_files.h"
#include "profiler/profile.h"
#include "profiler/tree/context_tree.h"
#include "profiler/tree/tree_ids.h"
#include "profiler/written_run.h"

namespace sp::profiler {

/// What --tree makes of a run: the tree, tree.json, and with --emit what is sent to a reader. On
/// the profiler thread.
class TreeRecorder {
 public:
  struct Options {
    bool by_thread = false;
    bool wall = false;
    core::TimePoint started{};
    std::string version;
    std::function<core::RunFacts()> facts_now{};
    std::function<ContextTree::Planned(const core::Module&)> planned{};  // see ContextTree
    std::optional<EmitOptions> emit{};
  };

  /// `namer` must outlive it.
  TreeRecorder(Options options, Namer& namer);

  void add(const core::TraceEventsTaken& taken) { tree_.add(taken); }
  void add(const core::SampleTaken& sample) { tree_.add(sample); }
  void add(const core::SamplesLost& lost) { tree_.add(lost); }
  void add(const core::ModuleSeen& seen);
  void add(const NamedCrash& crash);

  /// --emit: what is new is sent with the next tick().
  void send_now();
  /// Likewise: the calls were switched off or on.
  void tell(const core::TraceRequest& change);

  /// How long to wait for the next tick(), `wanted` or less.
  [[nodiscard]] core::Duration interval(core::Duration wanted) const;
  void tick(core::TimePoint now);
  /// There is nothing more to come: tells the reader. Waits for it for two seconds at most.
  void finish(const core::RunFacts& facts);

  /// tree.json. The arguments and this must outlive it.
  [[nodiscard]] Output output(const core::RunFacts& facts, bool snapshot, const Profile& profile);
  [[nodiscard]] WrittenTree totals() const;

 private:
  const Options options_;
  Namer& namer_;
  TreeIds ids_;
  ContextTree tree_;
  std::unique_ptr<Emitter> emitter_;  // null without --emit
};

}  // namespace sp::profiler
