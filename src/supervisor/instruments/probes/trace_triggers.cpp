#include "supervisor/instruments/probes/trace_triggers.h"

#include <cstddef>
#include <utility>

namespace sp::supervisor {

using core::TraceAction;

TraceTriggers::TraceTriggers(std::vector<core::TraceTrigger> triggers) {
  for (core::TraceTrigger& one : triggers) {
    const std::uint32_t bit = 1U << triggers_.size();
    switch_on_ |= one.action == TraceAction::on ? bit : 0;
    of_duration_ |= one.is_of_duration() ? bit : 0;
    look_at_arguments_ = look_at_arguments_ || (one.condition && one.condition->argument > 0);
    triggers_.push_back({std::move(one), 0});
  }
}

template <typename Holds>
std::vector<TraceAction> TraceTriggers::fire(std::uint32_t triggers, std::uint32_t depth,
                                             bool at_end, const Holds& holds) {
  std::vector<TraceAction> actions;
  for (std::size_t number = 0; number < triggers_.size(); ++number) {
    Trigger& trigger = triggers_[number];
    const bool is_meant = (triggers >> number & 1U) != 0 && trigger.what.is_of_duration() == at_end;
    const bool is_too_deep = trigger.what.depth > 0 && depth > trigger.what.depth;
    if (is_meant && !is_too_deep && (!trigger.what.condition || holds(*trigger.what.condition)) &&
        ++trigger.calls > trigger.what.after) {
      actions.push_back(trigger.what.action);
    }
  }
  return actions;
}

std::vector<TraceAction> TraceTriggers::on_entry(std::uint32_t triggers, std::uint32_t depth,
                                                 const Arguments& arguments) {
  return fire(triggers, depth, false, [&](const core::TraceTrigger::Condition& condition) {
    return condition.holds_for(
        static_cast<std::int64_t>(arguments.at(condition.argument - std::size_t{1})));
  });
}

std::vector<TraceAction> TraceTriggers::on_end(std::uint32_t triggers, std::uint32_t depth,
                                               core::Duration took) {
  return fire(triggers, depth, true, [took](const core::TraceTrigger::Condition& condition) {
    return condition.holds_for(took.count());
  });
}

}  // namespace sp::supervisor
