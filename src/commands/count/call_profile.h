#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/call_query.h"
#include "core/clock.h"
#include "core/messages.h"
#include "core/value_histogram.h"
#include "profiler/counted_span.h"
#include "profiler/namer.h"
#include "profiler/probed_profile.h"

namespace sp::count {

/// Calls that are alike in all that was asked.
struct GroupRow {
  std::vector<std::string> values;  // as CallQuery::values
  std::string caller;               // "main+0x1c (x.c:12)"; "" if not asked for
  std::string thread;               // "name (tid)"; likewise
  std::uint64_t calls = 0;
  std::uint64_t tail_calls = 0;  // that ended by a jump to another function
  core::ValueHistogram measured{};
};

struct FunctionRow {
  std::string function;
  std::string module;  // path
  std::uint64_t calls = 0;
  /// With conditions: calls, whether they hold or not.
  std::uint64_t all_calls = 0;
  bool is_known = true;  // false: jumps back to its beginning cannot be told from calls
  profiler::CountedSpan span{};
  std::vector<GroupRow> groups{};  // most calls first
};

/// What one interval, or the whole run, has shown.
struct Table {
  std::vector<FunctionRow> rows;  // most calls first, then by name
  core::Duration interval{};
  std::uint64_t ungrouped = 0;  // calls for which there was no room
};

/// The name of a counted function; nothing if it is not one.
struct CountedName {
  std::string function;
  std::string module;
};

/// Sums up the records of a run. For one thread, which also owns the namer.
class CallProfile {
 public:
  static constexpr std::size_t kMostGroups = std::size_t{1} << 18U;
  using Name = std::function<std::optional<CountedName>(const core::Module&, std::uint64_t)>;

  CallProfile(core::CallQuery query, profiler::Namer& namer, Name name);

  void add(core::Record&& record);
  /// The interval that ends now; the next one begins.
  [[nodiscard]] Table take_interval(core::TimePoint now);
  /// The whole run.
  [[nodiscard]] Table whole(core::TimePoint now);

 private:
  struct Function {
    CountedName name;
    std::uint64_t calls = 0;
    bool is_known = true;
    profiler::CountedSpan span;
  };
  using Functions = std::map<std::pair<std::string, std::string>, Function>;
  struct GroupKey {
    core::ModuleOffset function;
    core::ModuleOffset caller;
    core::ThreadId thread;
    std::vector<std::string> values;
    auto operator<=>(const GroupKey&) const = default;
  };
  struct Group {
    std::uint64_t calls = 0;
    std::uint64_t tail_calls = 0;
    core::ValueHistogram measured;
  };
  using Groups = std::map<GroupKey, Group>;

  void add(const core::CallCountsTaken& taken);
  void add(Groups& groups, const core::CallGroup<core::ModuleOffset>& told);
  [[nodiscard]] std::optional<CountedName> name_of(core::ModuleOffset where) const;
  [[nodiscard]] Functions functions_so_far() const;
  [[nodiscard]] Table table(const Functions& functions, const Functions* before,
                            const Groups& groups, core::TimePoint since, core::TimePoint now);
  [[nodiscard]] GroupRow row_of(const GroupKey& key, const Group& group);

  core::CallQuery query_;
  profiler::Namer& namer_;
  Name name_;
  std::map<core::ModuleId, core::Module> modules_;
  std::map<core::ThreadId, std::string> threads_;
  profiler::ProbedProfile probed_;
  Groups groups_;    // of the whole run
  Groups interval_;  // of this interval
  std::uint64_t ungrouped_ = 0;
  Functions before_;  // when the interval began
  core::TimePoint started_;
  core::TimePoint began_;
};

}  // namespace sp::count
