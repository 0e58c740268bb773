#include "core/log.h"
#include "profiler/profiler.h"

// What a Profiler does while the run goes on because somebody asked.
namespace sp::profiler {

void Profiler::write_snapshot() {
  if (!options_.facts_now) {
    return;
  }
  const core::Result<WrittenRun> written = write_files(options_.facts_now(), true);
  if (!written) {
    core::log_error("no snapshot: {}", written.error().message());
    return;
  }
  for (const core::Error& failure : written->failures) {
    core::log_error("snapshot: {}", failure.message());
  }
  core::log_note("snapshot of {} samples written to {}", written->counts.total(),
                 written->directory);
}

void Profiler::serve(const core::TraceRequest& request) {
  if (!tree_) {
    trace_.serve(request.action, profile_, *namer_);
  } else if (request.action == core::TraceAction::flush) {
    tree_->send_now();
  }
  if (options_.on_request_served) {
    options_.on_request_served(request);
  }
}

}  // namespace sp::profiler
