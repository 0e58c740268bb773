#include "profiler/inclusive_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sp::profiler {
namespace {

constexpr std::uint32_t kUnvisited = std::numeric_limits<std::uint32_t>::max();

/// Arcs by the function that they come from.
class Outgoing {
 public:
  Outgoing(std::size_t functions, std::span<const CallArc> arcs)
      : begin_(functions + 1), arcs_(arcs.size()) {
    for (const CallArc& arc : arcs) {
      ++begin_[arc.from + 1];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t i = 0; i < arcs.size(); ++i) {
      arcs_[next[arcs[i].from]++] = i;
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t function) const {
    return std::span(arcs_).subspan(begin_[function], begin_[function + 1] - begin_[function]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> arcs_;
};

/// Strongly connected components (Tarjan), callees before callers. Not recursive: call chains may
/// be deep.
class Cycles {
 public:
  Cycles(std::size_t functions, std::span<const CallArc> arcs, const Outgoing& outgoing)
      : of_(functions, kUnvisited), order_(functions, kUnvisited), low_(functions, 0) {
    for (std::uint32_t function = 0; function < functions; ++function) {
      if (order_[function] == kUnvisited) {
        visit(function, arcs, outgoing);
      }
    }
  }

  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& all() const { return all_; }
  [[nodiscard]] std::uint32_t of(std::uint32_t function) const { return of_[function]; }

 private:
  struct Level {
    std::uint32_t function = 0;
    std::size_t next = 0;  // of its arcs
  };

  void visit(std::uint32_t root, std::span<const CallArc> arcs, const Outgoing& outgoing) {
    std::vector<Level> levels;
    const auto enter = [&](std::uint32_t function) {
      order_[function] = low_[function] = count_++;
      open_.push_back(function);
      levels.push_back({function});
    };
    enter(root);
    while (!levels.empty()) {
      Level& level = levels.back();
      const std::uint32_t from = level.function;
      const auto out = outgoing.of(from);
      if (level.next < out.size()) {
        const std::uint32_t to = arcs[out[level.next++]].to;
        if (order_[to] == kUnvisited) {
          enter(to);
        } else if (of_[to] == kUnvisited) {
          low_[from] = std::min(low_[from], order_[to]);
        }
        continue;
      }
      levels.pop_back();
      if (!levels.empty()) {
        std::uint32_t& low = low_[levels.back().function];
        low = std::min(low, low_[from]);
      }
      if (low_[from] == order_[from]) {
        close(from);
      }
    }
  }

  void close(std::uint32_t first) {
    std::vector<std::uint32_t> members;
    do {
      members.push_back(open_.back());
      of_[open_.back()] = static_cast<std::uint32_t>(all_.size());
      open_.pop_back();
    } while (members.back() != first);
    all_.push_back(std::move(members));
  }

  std::vector<std::uint32_t> of_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> open_;
  std::vector<std::vector<std::uint32_t>> all_;
  std::uint32_t count_ = 0;
};

std::uint64_t share(double cost, std::uint64_t calls, double of) {
  return of <= 0 ? 0
                 : static_cast<std::uint64_t>(
                       std::llround(cost * std::min(1.0, static_cast<double>(calls) / of)));
}

}  // namespace

std::vector<std::uint64_t> shared_out_costs(std::span<const std::uint64_t> self,
                                            std::span<const std::uint64_t> calls,
                                            std::span<const CallArc> arcs) {
  const Outgoing outgoing(self.size(), arcs);
  const Cycles cycles(self.size(), arcs, outgoing);
  const auto is_inner = [&](const CallArc& arc) {
    return cycles.of(arc.from) == cycles.of(arc.to);
  };
  // Calls into the function from outside of its cycle, and from its cycle but not itself.
  std::vector<double> from_outside(self.size());
  std::vector<double> from_cycle(self.size());
  std::vector<double> all(self.size());
  for (const CallArc& arc : arcs) {
    all[arc.to] += static_cast<double>(arc.calls);
    if (arc.from != arc.to) {
      (is_inner(arc) ? from_cycle : from_outside)[arc.to] += static_cast<double>(arc.calls);
    }
  }
  std::vector<double> known_outside = from_outside;
  for (std::size_t i = 0; i < self.size(); ++i) {  // callers that were not counted are outside
    from_outside[i] += std::max(0.0, static_cast<double>(calls[i]) - all[i]);
  }
  std::vector<double> own(self.begin(), self.end());
  std::vector<double> cycle_cost(cycles.all().size());
  std::vector<double> cycle_calls(cycles.all().size());
  std::vector<std::uint64_t> costs(arcs.size());
  for (std::size_t i = 0; i < cycles.all().size(); ++i) {
    for (const std::uint32_t member : cycles.all()[i]) {
      for (const std::uint32_t out : outgoing.of(member)) {
        const CallArc& arc = arcs[out];
        if (!is_inner(arc)) {  // that cycle is done
          const std::uint32_t to = cycles.of(arc.to);
          costs[out] = share(cycle_cost[to], arc.calls, cycle_calls[to]);
          own[member] += static_cast<double>(costs[out]);
        }
      }
      cycle_cost[i] += own[member];
      cycle_calls[i] += from_outside[member];
    }
    for (const std::uint32_t member : cycles.all()[i]) {
      for (const std::uint32_t out : outgoing.of(member)) {
        const CallArc& arc = arcs[out];
        if (is_inner(arc) && arc.from != arc.to && known_outside[arc.to] == 0) {
          costs[out] = share(own[arc.to], arc.calls, from_cycle[arc.to]);
        }
      }
    }
  }
  return costs;
}

}  // namespace sp::profiler
