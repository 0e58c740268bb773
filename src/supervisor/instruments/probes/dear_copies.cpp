#include "supervisor/instruments/probes/dear_copies.h"

#include <algorithm>
#include <iterator>

namespace sp::supervisor {
namespace {

double per_execution(const CopyUse& use) {
  return static_cast<double>(use.cost.count()) / static_cast<double>(use.executions);
}

}  // namespace

std::vector<std::uint32_t> too_dear(const std::vector<FunctionCopies::FunctionUse>& uses,
                                    double limit, core::Duration cpu) {
  // Giving one up needs a stop of all threads; and the next look shall not find it too dear again.
  constexpr double kNextToNothing = 0.002;
  constexpr double kMargin = 0.9;
  core::Duration cost{};
  for (const auto& one : uses) {
    cost += one.use.cost;
  }
  const auto own = static_cast<double>((cpu - cost).count());
  if (own <= 0) {
    return {};  // the target's time is not accounted yet
  }
  std::vector<FunctionCopies::FunctionUse> dearest;
  std::copy_if(uses.begin(), uses.end(), std::back_inserter(dearest), [&](const auto& one) {
    return static_cast<double>(one.use.cost.count()) > kNextToNothing * own;
  });
  std::sort(dearest.begin(), dearest.end(), [](const auto& a, const auto& b) {
    return per_execution(a.use) > per_execution(b.use);
  });
  std::vector<std::uint32_t> chosen;
  for (const auto& one : dearest) {
    if (static_cast<double>(cost.count()) <= kMargin * limit * own) {
      break;
    }
    chosen.push_back(one.function);
    cost -= one.use.cost;
  }
  return chosen;
}

}  // namespace sp::supervisor
