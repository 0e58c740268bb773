#include "profiler/trace/own_events.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace sp::profiler {

using core::TraceEvent;
using core::TraceEventKind;

void OwnEvents::take(const TraceEvent& event) {
  if (event.kind() == TraceEventKind::value) {
    argument_ = event.function == 1 ? std::optional(event.ticks) : argument_;
  } else {
    take_data(event);
  }
}

/// Without its event it stands at the beginning of what is left.
void OwnEvents::take_data(const TraceEvent& event) {
  if (!event_) {
    return;
  }
  std::vector<std::byte>& data = event_->event.data;
  const std::uint64_t most = std::min<std::uint64_t>(event_->event.size, core::kMostTraceData);
  const std::size_t before = data.size();
  data.resize(before + std::min<std::uint64_t>(core::kTraceDataBytes, most - before));
  const auto bytes = std::span(data).subspan(before);
  if (bytes.empty()) {
    return;
  }
  std::memcpy(bytes.data(), &event.ticks, std::min(bytes.size(), sizeof(event.ticks)));
  if (bytes.size() > sizeof(event.ticks)) {
    std::memcpy(bytes.subspan(sizeof(event.ticks)).data(), &event.function,
                bytes.size() - sizeof(event.ticks));
  }
}

std::optional<std::uint64_t> OwnEvents::take_argument() {
  return std::exchange(argument_, std::nullopt);
}

void OwnEvents::begin(const TraceEvent& event, std::uint32_t thread, std::uint32_t stack,
                      std::int64_t at_ns) {
  event_ = TracedEvent{thread, stack, 0, at_ns, {{}, event.sp(), {}}};
  if (event.kind() == TraceEventKind::typed) {
    event_->event.type = event.function;
  }
}

std::optional<TracedEvent> OwnEvents::take_event() { return std::exchange(event_, std::nullopt); }

}  // namespace sp::profiler
