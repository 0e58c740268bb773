#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "core/clock.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "profiler/namer.h"
#include "profiler/probed_profile.h"
#include "profiler/profile.h"

namespace sp::top {

/// A function in one interval.
struct Row {
  std::string function;
  std::string module;  // path
  std::uint64_t self = 0;
  std::uint64_t total = 0;
  std::optional<double> calls_per_second;  // nothing if not counted during the whole interval
};

/// What one interval has shown.
struct Table {
  std::vector<Row> rows;
  profiler::SampleCounts counts;
  core::Duration interval{};
};

/// Sums up the records of one interval after the other. For one thread, which also owns the namer.
class LiveProfile {
 public:
  LiveProfile(profiler::Namer& namer, bool counts_calls);

  void add(core::Record&& record);
  /// The interval that ends now; the next one begins.
  [[nodiscard]] Table take_table(core::TimePoint now, cli::Sort sort);
  [[nodiscard]] bool has_samples() const { return profile_->counts().total() > 0; }

 private:
  struct Counted {
    std::uint64_t calls = 0;
    bool is_whole = true;  // counted during the whole interval
  };
  /// By module and function.
  using Calls = std::map<std::pair<std::string, std::string>, Counted>;

  void begin_interval(core::TimePoint now);
  /// Of the functions whose calls were counted at any time.
  [[nodiscard]] Calls calls_so_far();

  profiler::Namer& namer_;
  bool counts_calls_;
  std::vector<core::Module> modules_;
  std::unique_ptr<profiler::Profile> profile_;  // of this interval
  profiler::ProbedProfile probed_;              // of the whole run
  Calls calls_;                                 // when the interval began
  core::TimePoint began_;
};

}  // namespace sp::top
