#include "profiler/profiler.h"

// What single records do.
namespace sp::profiler {

void Profiler::take(const core::SampleTaken& sample) {
  const auto told_apart = reused_.told_apart(sample);
  add(told_apart ? *told_apart : sample);
}

void Profiler::add(const core::SampleTaken& sample) {
  parts_.note(sample);
  recorder_->add(sample, profile_.add(sample), profile_);
  if (tree_) {
    tree_->add(sample);
  }
  if (push_) {
    push_->add(sample);
  }
  open_files_of(sample.stack);
  (sample.kind == core::SampleKind::on_cpu ? progress_.on_cpu : progress_.blocked) += sample.count;
  if (sample.with_stack && core::is_truncated(sample.stack.end)) {
    progress_.truncated += sample.count;
  }
}

void Profiler::take(const core::CrashSeen& crash) {
  if (options_.on_crash) {
    options_.on_crash(crash.process);
  }
  const NamedCrash named = crashes_->add(
      crash, {options_.version, facts_now().host_arch, parts_.started()}, profile_, *namer_);
  if (tree_) {
    tree_->add(named);
  }
}

/// Opening debug information takes up to seconds: do it while the target runs, not while the user
/// waits for the results.
void Profiler::open_files_of(const core::Stack& stack) {
  if (unopened_.empty()) {
    return;
  }
  for (const core::Frame& frame : stack.frames) {
    const auto unopened = unopened_.find(frame.where.module);
    if (unopened != unopened_.end() && namer_->prepare(frame.where)) {
      unopened_.erase(unopened);
    }
  }
}

}  // namespace sp::profiler
