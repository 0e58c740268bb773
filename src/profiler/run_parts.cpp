#include "profiler/run_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace sp::profiler {
namespace {

/// What is estimated may have become less.
template <typename Number>
void take_off(Number& now, Number before) {
  now -= std::min(now, before);
}

/// How often something happened that did so once each mean interval.
double ticks_of(const core::RunFacts& facts) {
  const core::Duration mean = facts.cost.mean_interval;
  return mean.count() > 0 ? core::seconds(facts.elapsed) / core::seconds(mean) : 0;
}

core::Duration mean_since(const core::RunFacts& now, const core::RunFacts& before) {
  const double ticks = ticks_of(now) - ticks_of(before);
  const auto time = static_cast<double>((now.elapsed - before.elapsed).count());
  return ticks < 1 ? now.cost.mean_interval
                   : core::Duration(static_cast<core::Duration::rep>(time / ticks));
}

double ours_of(const core::Cost& cost) { return core::seconds(cost.stopped + cost.counting); }

/// What the share of ours refers to.
double own_of(const core::Cost& cost) {
  return cost.overhead_percent > 0 ? 100 * ours_of(cost) / cost.overhead_percent : 0;
}

double overhead_since(const core::Cost& now, const core::Cost& before) {
  const double own = own_of(now) - own_of(before);
  return own > 0 ? std::max(0.0, 100 * (ours_of(now) - ours_of(before)) / own)
                 : now.overhead_percent;
}

void subtract(core::Cost& now, const core::Cost& before) {
  now.overhead_percent = overhead_since(now, before);
  take_off(now.stops, before.stops);
  take_off(now.stopped, before.stopped);
  take_off(now.counting, before.counting);
  take_off(now.target_cpu, before.target_cpu);
}

void subtract(core::SupervisorLosses& now, const core::SupervisorLosses& before) {
  take_off(now.ticks_while_stop_in_flight, before.ticks_while_stop_in_flight);
  take_off(now.samples_dropped, before.samples_dropped);
  take_off(now.blocked_before_stop, before.blocked_before_stop);
  take_off(now.waited_for_cpu, before.waited_for_cpu);
  take_off(now.unfollowed_processes, before.unfollowed_processes);
}

void subtract(core::Probing& now, const core::Probing& before) {
  take_off(now.hits, before.hits);
  take_off(now.uncounted_programs, before.uncounted_programs);
  take_off(now.windows, before.windows);
  take_off(now.steps, before.steps);
  take_off(now.cost, before.cost);
  take_off(now.copying.executions, before.copying.executions);
  take_off(now.copying.branches, before.copying.branches);
  take_off(now.copying.arrivals, before.copying.arrivals);
  take_off(now.copying.transfers, before.copying.transfers);
}

void subtract(core::Tracing& now, const core::Tracing& before) {
  take_off(now.events, before.events);
  take_off(now.lost, before.lost);
  take_off(now.cleared, before.cleared);
  take_off(now.times_off, before.times_off);
}

}  // namespace

core::RunFacts facts_since(core::RunFacts now, const core::RunFacts& before) {
  now.cost.mean_interval = mean_since(now, before);
  subtract(now.cost, before.cost);
  subtract(now.losses, before.losses);
  if (now.probing && before.probing) {
    subtract(*now.probing, *before.probing);
  }
  if (now.trace && before.trace) {
    subtract(*now.trace, *before.trace);
  }
  now.started_at += std::chrono::duration_cast<std::chrono::system_clock::duration>(before.elapsed);
  now.elapsed -= before.elapsed;
  return now;
}

RunParts::RunParts(std::optional<SplitOptions> split, core::TimePoint started)
    : split_(std::move(split)), run_started_(started), started_(started) {}

core::RunFacts RunParts::facts_of(core::RunFacts whole, std::uint64_t events) const {
  if (!is_first()) {
    whole = facts_since(std::move(whole), before_);
  }
  if (split_) {
    whole.part = part_;
    if (whole.trace) {
      whole.trace->events = events;  // others may be on their way
    }
    whole.name += fmt::format(".{}", part_);
  }
  return whole;
}

void RunParts::tick(core::TimePoint now, std::uint64_t bytes) {
  if (!split_ || asked_at_) {
    return;
  }
  const bool is_old = split_->every.count() > 0 && now >= started_ + split_->every;
  const bool is_large = split_->bytes > 0 && bytes >= split_->bytes;
  if (is_old || is_large) {
    asked_at_ = now;
    alive_.clear();  // a snapshot tells all names
    split_->ask();
  }
}

std::unique_ptr<RunDirectory> RunParts::on_snapshot() {
  alive_before_ = std::exchange(alive_, {});
  if (!split_ || !asked_at_) {
    return nullptr;
  }
  auto made = split_->make_directory(part_ + 1);
  if (!made) {
    core::print_error(made.error().message() + "; the run goes on in part " +
                      std::to_string(part_));
    split_->every = {};
    split_->bytes = 0;
    asked_at_.reset();
    return nullptr;
  }
  return std::make_unique<RunDirectory>(std::move(*made));
}

/// Later than nothing that belongs to the part, as records may have waited in a channel.
core::TimePoint RunParts::boundary() const {
  return std::max(asked_at_.value_or(started_), last_sample_);
}

core::RunFacts RunParts::last_facts(core::RunFacts whole, std::uint64_t events) const {
  whole.elapsed = boundary() - run_started_;
  whole.end = core::RunEnd::split;
  return facts_of(std::move(whole), events);
}

void RunParts::begin_next(core::RunFacts whole, std::unique_ptr<RunDirectory> finished) {
  whole.elapsed = boundary() - run_started_;
  before_ = std::move(whole);
  started_ = boundary();
  asked_at_.reset();
  ++part_;
  if (split_->keep == 0) {
    return;
  }
  finished_.push_back(std::move(finished));
  while (finished_.size() >= split_->keep) {
    finished_.front()->remove_all();
    finished_.pop_front();
  }
}

}  // namespace sp::profiler
