#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/log.h"
#include "profiler/trace_recorder.h"

// What a TraceRecorder does because somebody asked, and its limit.
namespace sp::profiler {

void TraceRecorder::serve(core::TraceAction action, const Profile& profile, Namer& namer) {
  if (action == core::TraceAction::clear) {
    clear();
  } else if (action == core::TraceAction::flush && writer_ && !error_) {
    keep_and_say(write_tasks(profile));
    keep_and_say(write_names(namer, named_));
    keep_and_say(writer_->flush());
  }
}

void TraceRecorder::flush() {
  if (writer_) {
    keep_error(writer_->flush());
  }
}

void TraceRecorder::clear() {
  flush();  // what is not written then is lost
  const std::uint64_t lost = unwritten();
  cleared_ += taken_ - lost;
  taken_ = lost;
  forget_numbers();
  if (writer_) {
    writer_.reset();
    file_.reset();
    keep_and_say(begin());  // in place of the file that there was
  }
}

void TraceRecorder::begin_part(RunDirectory& directory, core::TimePoint started,
                               const std::unordered_set<core::ThreadId>& alive) {
  const auto has_ended = [&](const auto& thread) {
    return !alive.empty() && !alive.contains(thread.first);
  };
  std::erase_if(events_of_, has_ended);
  std::erase_if(stolen_from_, has_ended);
  events_before_ = events_of_;
  stolen_before_ = stolen_from_;
  for (const Function& function : functions_) {
    if (function.traced.until) {
      ended_.insert(id_of(function));  // nobody tells it again
    }
  }
  forget_numbers();
  writer_.reset();
  file_.reset();
  error_.reset();
  directory_ = &directory;
  started_ = started;
  cleared_ = 0;
  taken_ = 0;
}

std::optional<std::uint64_t> TraceRecorder::entries_of(core::ModuleOffset start) const {
  const auto known = function_numbers_.find(start);
  if (known == function_numbers_.end()) {
    return 0;
  }
  const Function& function = functions_[known->second];
  return function.traced.is_part || function.traced.until ? std::nullopt
                                                          : std::optional(function.entries);
}

void TraceRecorder::forget_numbers() {
  is_full_ = false;
  named_ = 0;
  threads_.clear();
  thread_numbers_.clear();
  functions_.clear();
  function_numbers_.clear();
  module_numbers_.clear();
  module_hashes_.clear();
}

bool TraceRecorder::has_room_for(std::uint64_t events) {
  constexpr std::uint64_t kOfFunction = 64;    // with its names, compressed
  constexpr std::uint64_t kRest = 16 * 1'024;  // run.json and the names of threads
  if (most_bytes_ == 0 || events == 0) {
    return true;
  }
  const auto size_with = [&](std::uint64_t more) {
    return file_->size() + (writer_->events_held() + more) * sizeof(core::TraceEvent) +
           functions_.size() * kOfFunction + kRest;
  };
  if (!is_full_ && size_with(events) > most_bytes_) {
    keep_and_say(writer_->flush());  // compressed it is smaller
    is_full_ = size_with(events) > most_bytes_;
    if (is_full_) {
      core::log_note(
          "{} has reached --trace-size: later events are counted as lost, and not written",
          file_->path());
    }
  }
  return !is_full_;
}

}  // namespace sp::profiler
