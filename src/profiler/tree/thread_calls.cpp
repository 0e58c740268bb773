#include "profiler/tree/thread_calls.h"

#include <algorithm>
#include <utility>

namespace sp::profiler {

void ThreadCalls::add(const core::TraceEvent& event, const Site* site) {
  site_ = site;
  is_open_ = event.kind() == core::TraceEventKind::open;
  frames_.add(event);
  if (std::exchange(site_, nullptr) != nullptr && !is_open_) {
    // More frames are open than are kept.
    ++tallies_.calls;
    ++tallies_.collapsed;
    nodes_.count_call(base_);
  }
}

void ThreadCalls::begin(const TracedCall& call) {
  std::vector<std::uint32_t>& open = open_[call.stack];
  const std::uint32_t innermost = open.empty() ? base_ : open.back();
  // Without a site it was entered before, and its return is the first that is seen of it.
  open.push_back(site_ == nullptr ? innermost : enter(caller(innermost), call.function));
}

void ThreadCalls::end(const TracedCall& call) {
  const auto open = open_.find(call.stack);
  open->second.pop_back();
  if (open->second.empty()) {
    open_.erase(open);
  }
}

std::uint32_t ThreadCalls::enter(std::uint32_t parent, std::uint32_t function) {
  const ContextNodes::Placed placed = nodes_.child(parent, function, site_->call);
  site_ = nullptr;
  if (is_open_) {
    return placed.node;
  }
  nodes_.count_call(placed.node);
  ++tallies_.calls;
  tallies_.folded += placed.place == ContextNodes::Place::folded ? 1U : 0U;
  tallies_.collapsed += placed.place == ContextNodes::Place::collapsed ? 1U : 0U;
  return placed.node;
}

/// The call comes from another function than the innermost open one where that one was entered
/// before its calls were seen, or after they ceased to be. A sample may have shown its node.
std::uint32_t ThreadCalls::caller(std::uint32_t innermost) const {
  const std::uint32_t function = site_->function;
  const bool is_known = function == ContextNodes::kNone ||
                        function == nodes_.all()[innermost].function ||
                        functions_.all()[function].is_part;
  if (is_known) {
    return innermost;
  }
  const auto shown = std::find_if(path_.rbegin(), path_.rend(), [&](std::uint32_t node) {
    return nodes_.all()[node].function == function && nodes_.is_within(node, innermost);
  });
  return shown == path_.rend() ? innermost : *shown;
}

}  // namespace sp::profiler
