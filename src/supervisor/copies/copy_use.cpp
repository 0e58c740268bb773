#include "supervisor/copies/copy_use.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sp::supervisor {
namespace {

/// By how many jumps half of all arrivals came, at least.
std::uint64_t jumps_of_half(std::vector<std::uint64_t> arrivals) {
  std::sort(arrivals.begin(), arrivals.end(), std::greater<>());
  const auto all = std::accumulate(arrivals.begin(), arrivals.end(), std::uint64_t{0});
  std::uint64_t jumps = 0;
  for (std::uint64_t sum = 0; sum < all - all / 2; ++jumps) {
    sum += arrivals[jumps];
  }
  return jumps;
}

}  // namespace

CopyPrices::CopyPrices(std::vector<std::uint64_t> arrivals) {
  constexpr std::uint64_t kCheapest = 300;
  constexpr std::uint64_t kDearest = 750;
  constexpr std::uint64_t kRemembered = 3;
  constexpr std::uint64_t kForgotten = 21;  // so many more jumps do not cost more
  const std::uint64_t jumps =
      std::clamp(jumps_of_half(std::move(arrivals)), kRemembered, kForgotten);
  arrival_ =
      kCheapest + (kDearest - kCheapest) * (jumps - kRemembered) / (kForgotten - kRemembered);
}

core::Duration CopyPrices::cost(const CopyUse& use) const {
  constexpr std::uint64_t kExecution = 60;
  constexpr std::uint64_t kBranch = 60;
  constexpr std::uint64_t kEmulatedCall = 8'500;
  constexpr std::uint64_t kTransfer = 800;
  constexpr std::uint64_t kFlags = 120;
  constexpr std::uint64_t kEvent = 5'500;
  constexpr std::uint64_t kPicosecondsInNanosecond = 1000;
  const std::uint64_t picoseconds = use.executions * kExecution + use.branches * kBranch +
                                    use.arrivals * arrival_ + use.emulated_calls * kEmulatedCall +
                                    use.transfers * kTransfer + use.transfers_with_flags * kFlags +
                                    use.events * kEvent;
  return core::Duration{static_cast<std::int64_t>(picoseconds / kPicosecondsInNanosecond)};
}

}  // namespace sp::supervisor
