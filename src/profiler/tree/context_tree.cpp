#include "profiler/tree/context_tree.h"

#include <chrono>
#include <optional>
#include <utility>

namespace sp::profiler {
namespace {

constexpr core::Duration kAskAgain = std::chrono::milliseconds(100);

core::ModuleOffset one_byte_back(core::ModuleOffset where) {
  return {where.module, where.offset - (where.offset > 0 ? 1U : 0U)};
}

}  // namespace

ContextTree::ContextTree(Options options, Namer& namer)
    : options_(std::move(options)),
      namer_(namer),
      sources_{[this](std::uint32_t function) {
                 return OpenFrames::Facts{functions_.all()[function].is_part};
               },
               [](std::uint64_t /*ticks*/) { return std::int64_t{0}; }},
      nodes_(options_.limits) {}

void ContextTree::add(const core::ModuleSeen& seen) { modules_[seen.module.id].seen = seen.module; }

std::uint32_t ContextTree::base_of(core::ThreadId thread) {
  if (!options_.by_thread) {
    return ContextNodes::kRoot;
  }
  const auto [known, is_new] =
      thread_numbers_.try_emplace(thread, static_cast<std::uint32_t>(threads_.size()));
  if (is_new) {
    threads_.push_back(thread);
  }
  return nodes_.thread(known->second);
}

ThreadCalls& ContextTree::calls_of(core::ThreadId thread) {
  std::unique_ptr<ThreadCalls>& calls = calls_[thread];
  if (!calls) {
    calls = std::make_unique<ThreadCalls>(nodes_, functions_, base_of(thread),
                                          OpenFrames::Rules{.calls_push = options_.calls_push},
                                          sources_, totals_.calls);
  }
  return *calls;
}

ThreadCalls::Site ContextTree::site_before(core::ModuleOffset returns_to) const {
  const core::ModuleOffset call = one_byte_back(returns_to);
  return {call, functions_.holding(call)};
}

void ContextTree::add(const core::TraceEventsTaken& taken) {
  const auto& batch = taken.batch;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(batch.functions.size());
  for (const auto& function : batch.functions) {
    numbers.push_back(functions_.add(function));
  }
  if (batch.events.empty() && batch.lost == 0) {
    return;
  }
  std::vector<ThreadCalls::Site> sites;
  sites.reserve(batch.sites.size());
  for (const core::ModuleOffset& site : batch.sites) {
    sites.push_back(site_before(site));
  }
  const ThreadCalls::Site unknown{};
  totals_.lost_events += batch.lost;
  ThreadCalls* calls = &calls_of(taken.thread);
  if (batch.lost > 0) {
    calls->lose(batch.lost);
  }
  for (core::TraceEvent event : batch.events) {
    const core::TraceEventKind kind = event.kind();
    if (core::names_function(kind)) {
      if (event.function >= numbers.size()) {
        continue;
      }
      event.function = numbers[event.function];
    }
    const bool is_entry = kind == core::TraceEventKind::entry || kind == core::TraceEventKind::open;
    const bool is_known = event.ticks < sites.size();
    calls->add(event, !is_entry ? nullptr : is_known ? &sites[event.ticks] : &unknown);
  }
  if (!batch.events.empty() && batch.events.back().kind() == core::TraceEventKind::end) {
    calls_.erase(taken.thread);
  }
}

void ContextTree::add(const core::SampleTaken& sample) {
  totals_.samples += sample.count;
  if (!sample.with_stack || sample.stack.frames.empty()) {
    totals_.without_stack += sample.count;
    nodes_.count_samples(base_of(sample.thread), sample.count);
    return;
  }
  totals_.truncated += core::is_truncated(sample.stack.end) ? sample.count : 0;
  for (const core::Frame& frame : sample.stack.frames) {
    plan(frame.where.module, sample.time);
  }
  count_stack(sample);
}

void ContextTree::count_stack(const core::SampleTaken& sample) {
  const std::vector<core::Frame>& frames = sample.stack.frames;
  std::vector<std::uint32_t> functions;
  functions.reserve(frames.size());
  std::size_t innermost = frames.size();  // of those with places
  for (std::size_t i = 0; i < frames.size(); ++i) {
    functions.push_back(function_of(frames[i]));
    if (innermost == frames.size() && functions_.all()[functions[i]].has_places) {
      innermost = i;
    }
  }
  std::vector<std::uint32_t> path;
  bool folded = false;
  bool collapsed = false;
  std::uint32_t node = base_of(sample.thread);
  for (std::size_t i = frames.size(); i-- > 0;) {
    const bool is_kept =
        innermost == frames.size() || i <= innermost || functions_.all()[functions[i]].has_places;
    if (!is_kept) {
      continue;
    }
    std::optional<core::ModuleOffset> site;
    if (i + 1 < frames.size()) {
      const core::Frame& caller = frames[i + 1];
      site = caller.is_return_address ? one_byte_back(caller.where) : caller.where;
    }
    const ContextNodes::Placed placed = nodes_.child(node, functions[i], site);
    folded = folded || placed.place == ContextNodes::Place::folded;
    collapsed = collapsed || placed.place == ContextNodes::Place::collapsed;
    node = placed.node;
    path.push_back(node);
  }
  nodes_.count_samples(node, sample.count);
  totals_.folded_samples += folded ? sample.count : 0;
  totals_.collapsed_samples += collapsed ? sample.count : 0;
  calls_of(sample.thread).set_path(std::move(path));
}

/// The places of a file are chosen at about the time of the first sample in it.
void ContextTree::plan(core::ModuleId module, core::TimePoint now) {
  const auto known = modules_.find(module);
  if (known == modules_.end() || known->second.is_planned || !options_.planned ||
      now < known->second.ask_again) {
    return;
  }
  known->second.ask_again = now + kAskAgain;
  for (const auto& function : options_.planned(known->second.seen)) {
    functions_.add(function);
    known->second.is_planned = true;
  }
}

std::uint32_t ContextTree::function_of(const core::Frame& frame) {
  if (looked_up_with_ != functions_.with_places()) {
    looked_up_.clear();
    looked_up_with_ = functions_.with_places();
  }
  const core::ModuleOffset where =
      frame.is_return_address ? one_byte_back(frame.where) : frame.where;
  const auto [known, is_new] = looked_up_.try_emplace(where, ContextNodes::kNone);
  if (is_new) {
    known->second = functions_.holding(where);
    if (known->second == ContextNodes::kNone) {
      const std::uint64_t start = namer_.name(frame.where, frame.is_return_address).back().start;
      known->second = functions_.add(core::ModuleOffset{where.module, start});
    }
  }
  return known->second;
}

}  // namespace sp::profiler
