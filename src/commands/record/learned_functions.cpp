#include "commands/record/learned_functions.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "analyzer/learning.h"
#include "core/log.h"
#include "profiler/text.h"

namespace sp::record {
namespace {

constexpr double kPercents = 100;

double share(core::Duration part, core::Duration whole) {
  return whole.count() <= 0
             ? 0
             : kPercents * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::uint64_t calls_a_second(const core::CallCost& calls, core::Duration own) {
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(calls.entries) / core::seconds(own)));
}

}  // namespace

/// Of all that was seen: shares of what one decision was made of would add up to more than all.
std::string LearnedFunctions::text_of(const Rule& rule) const {
  return fmt::format("learned: {} calls/s, {:.0f} % of cost",
                     profiler::grouped(rule.calls_a_second), share(rule.cost, seen_));
}

std::vector<std::vector<std::size_t>> LearnedFunctions::choose(const std::vector<CallCosts>& files,
                                                               const Kept& kept, core::Duration own,
                                                               double percent, bool is_decided) {
  struct Place {
    std::size_t file = 0;
    std::size_t function = 0;
  };
  std::vector<analyzer::WatchedFunction> watched;
  std::vector<Place> places;
  std::map<Function, core::Duration> costs = costs_;
  core::Duration cost{};
  for (std::size_t file = 0; file < files.size(); ++file) {
    for (std::size_t i = 0; i < files[file].functions.size(); ++i) {
      watched.push_back({files[file].functions[i], kept[file][i]});
      places.push_back({file, i});
      cost += files[file].functions[i].cost;
      costs[{files[file].file.image->identity(), files[file].functions[i].begin}] +=
          files[file].functions[i].cost;
    }
  }
  pending_.clear();
  Rules& rules = is_decided ? decided_ : pending_;
  std::size_t count = 0;
  std::vector<std::vector<std::size_t>> chosen(files.size());
  core::Duration of_chosen{};
  for (const std::size_t i : analyzer::find_too_costly(watched, own, percent)) {
    const Place place = places[i];
    chosen[place.file].push_back(place.function);
    of_chosen += watched[i].calls.cost;
    ++count;
    const Function function{files[place.file].file.image->identity(), watched[i].calls.begin};
    rules[function] = {calls_a_second(watched[i].calls, own), costs[function]};
  }
  seen_ = cost_ + cost;
  if (is_decided) {
    costs_ = std::move(costs);
    cost_ = seen_;
  }
  if (is_decided && count > 0) {
    core::log_note(
        "learned: tracing has cost {:.1f} % of the target's own time, {:.1f} % of it by {} of {} "
        "functions, which are not traced from here on (learned.toml)",
        share(cost, own), share(of_chosen, cost), profiler::grouped(count),
        profiler::grouped(watched.size()));
  }
  return chosen;
}

void LearnedFunctions::describe(const std::string& identity, profiler::SymbolRow& row) const {
  if (const auto rule = decided_.find({identity, row.offset}); rule != decided_.end()) {
    row.learned = row.reason = text_of(rule->second);
  } else if (const auto pending = pending_.find({identity, row.offset});
             pending != pending_.end()) {
    row.learned = text_of(pending->second);
  }
}

}  // namespace sp::record
