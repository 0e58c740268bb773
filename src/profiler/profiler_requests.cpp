#include <utility>

#include "core/log.h"
#include "profiler/profiler.h"

// What a Profiler does while the run goes on because somebody asked, or a part of it is complete.
namespace sp::profiler {

/// Of the current part.
core::RunFacts Profiler::facts_now() const {
  return parts_.facts_of(options_.facts_now ? options_.facts_now() : core::RunFacts(),
                         trace_.events());
}

void Profiler::begin_part(std::unique_ptr<RunDirectory> directory) {
  directory_ = std::move(directory);
  crashes_ = std::make_unique<CrashRecorder>(*directory_);
  recorder_ = std::make_unique<Recorder>(*directory_, parts_.started(), [this] {
    return recorded_state(report(facts_now(), true, nullptr), nullptr);
  });
}

void Profiler::write_snapshot() {
  if (!options_.facts_now) {
    return;
  }
  std::unique_ptr<RunDirectory> next = parts_.on_snapshot();
  const core::RunFacts whole = options_.facts_now();
  const core::Result<WrittenRun> written =
      next ? write_files(parts_.last_facts(whole, trace_.events()), false)
           : write_files(parts_.facts_of(whole, trace_.events()), true);
  const std::string_view what = next ? "part" : "snapshot";
  if (!written) {
    core::log_error("no {}: {}", what, written.error().message());
  } else {
    for (const core::Error& failure : written->failures) {
      core::log_error("{}: {}", what, failure.message());
    }
    core::log_note("{} of {} samples written to {}", what, written->counts.total(),
                   written->directory);
  }
  if (!next) {
    return;
  }
  code_.forget_counts();
  probed_.forget_counts();
  parts_.begin_next(whole, std::exchange(directory_, nullptr));
  profile_.begin_again(parts_.alive(), parts_.started());
  begin_part(std::move(next));
  trace_.begin_part(*directory_, parts_.started(), parts_.alive());
}

void Profiler::serve(const core::TraceRequest& request) {
  const std::uint64_t cleared_before = trace_.cleared();
  if (!tree_) {
    trace_.serve(request.action, profile_, *namer_);
  } else if (request.action == core::TraceAction::flush) {
    tree_->send_now();
  } else {
    tree_->tell(request);
  }
  if (options_.on_request_served) {
    options_.on_request_served(request, trace_.cleared() - cleared_before);
  }
}

}  // namespace sp::profiler
