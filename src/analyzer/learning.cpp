#include "analyzer/learning.h"

#include <algorithm>

namespace sp::analyzer {
namespace {

/// Fewer calls tell nothing of those to come.
constexpr std::uint64_t kFewest = 10;

/// Cost for the time inside; a call takes a nanosecond at least.
double badness(const WatchedFunction& function) {
  const auto inside = std::max<std::int64_t>(function.calls.inside.count(), 1);
  return static_cast<double>(function.calls.cost.count()) / static_cast<double>(inside);
}

}  // namespace

std::vector<std::size_t> find_too_costly(std::span<const WatchedFunction> functions,
                                         core::Duration own, double percent) {
  constexpr double kWhole = 100;
  const double allowed = static_cast<double>(own.count()) * percent / kWhole;
  double rest = 0;
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    rest += static_cast<double>(functions[i].calls.cost.count());
    const bool is_often = functions[i].calls.entries >= kFewest;
    if (!functions[i].is_kept && is_often && functions[i].calls.cost > core::Duration{}) {
      worst.push_back(i);
    }
  }
  std::sort(worst.begin(), worst.end(), [&](std::size_t a, std::size_t b) {
    const double of_a = badness(functions[a]);
    const double of_b = badness(functions[b]);
    return of_a != of_b ? of_a > of_b : functions[a].calls.cost > functions[b].calls.cost;
  });
  std::vector<std::size_t> dropped;
  for (const std::size_t i : worst) {
    if (rest <= allowed) {
      break;
    }
    rest -= static_cast<double>(functions[i].calls.cost.count());
    dropped.push_back(i);
  }
  // The worst of all may be one that is hardly ever called: the least costly come back first.
  std::sort(dropped.begin(), dropped.end(), [&](std::size_t a, std::size_t b) {
    return functions[a].calls.cost < functions[b].calls.cost;
  });
  std::erase_if(dropped, [&](std::size_t i) {
    const auto cost = static_cast<double>(functions[i].calls.cost.count());
    const bool fits = rest + cost <= allowed;
    rest += fits ? cost : 0;
    return fits;
  });
  std::sort(dropped.begin(), dropped.end());
  return dropped;
}

}  // namespace sp::analyzer
