#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "profiler/namer.h"
#include "profiler/profile.h"
#include "profiler/push/push_options.h"
#include "profiler/push/sender.h"

namespace sp::profiler {

/// Sends the samples of a run to a server as they come (--push): each period what came since the
/// last profile that the server has taken, as pprof. Where it takes none, nothing is lost and the
/// next one is larger; it is tried again after 1, 2, 4 .. 60 s. On the profiler thread, which it
/// never blocks but in finish().
class Pusher {
 public:
  static constexpr core::Duration kLongestFinish = std::chrono::seconds(3);
  static constexpr core::Duration kFirstPause = std::chrono::seconds(1);
  static constexpr core::Duration kLongestPause = std::chrono::seconds(60);

  struct Run {
    bool by_thread = false;
    bool wall = false;
    core::TimePoint started{};
    std::string version;  // of superprofiler
    std::function<core::RunFacts()> facts_now;
  };

  Pusher(PushOptions options, Run run, Sender::Post post);

  void add(const core::SampleTaken& sample);
  void add(const core::ModuleSeen& seen);
  void add(const core::ThreadSeen& seen);
  /// Sends what is due. `namer` names it.
  void tick(core::TimePoint now, Namer& namer);
  /// Sends the rest, within kLongestFinish. False: the server has not got everything.
  [[nodiscard]] bool finish(const core::RunFacts& facts, Namer& namer);

 private:
  /// What came in some time.
  struct Delta {
    std::unique_ptr<Profile> profile;
    core::TimePoint since;
    core::Duration cpu{};  // of the target, up to `since`
  };

  [[nodiscard]] Delta new_delta(core::TimePoint since, core::Duration cpu) const;
  void take_answer(core::TimePoint now);
  void fail(const std::string& why, core::TimePoint now);
  void send(const core::RunFacts& facts, core::TimePoint now, Namer& namer);
  [[nodiscard]] std::string pprof_of_delta(const core::RunFacts& facts, core::TimePoint now,
                                           Namer& namer) const;

  const PushOptions options_;
  const Run run_;
  std::vector<core::ModuleSeen> modules_;
  std::vector<core::ThreadSeen> threads_;
  Delta delta_;                 // not taken by the server
  std::optional<Delta> later_;  // while a request is under way: what came since
  core::Duration pause_ = kFirstPause;
  core::TimePoint retry_at_{};
  bool has_told_ = false;  // that the server does not take anything
  Sender sender_;
};

}  // namespace sp::profiler
