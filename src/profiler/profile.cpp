#include "profiler/profile.h"

#include <algorithm>
#include <iterator>

namespace sp::profiler {
namespace {

std::uint64_t hash_of(const Step& step) {
  const auto where =
      static_cast<std::uint64_t>(step.module) << 8U | static_cast<std::uint64_t>(step.kind);
  return mixed(step.value, where);
}

Step step_of(const core::Frame& frame) {
  return {frame.where.offset, frame.where.module,
          frame.is_return_address ? StepKind::return_address : StepKind::instruction};
}

/// Doubling beyond the limit would waste up to half of the memory that the limit bounds.
template <typename T>
void reserve_for_one_more(std::vector<T>& values, std::size_t limit) {
  if (values.size() == values.capacity()) {
    values.reserve(std::max(values.size() + 1, std::min(values.size() * 2, limit)));
  }
}

}  // namespace

Profile::Profile(bool by_thread, std::size_t max_nodes)
    : by_thread_(by_thread),
      max_nodes_(std::max<std::size_t>(max_nodes, 4)),
      hard_max_nodes_(max_nodes_ + max_nodes_ / 8) {
  nodes_.resize(2);
  // A sample always finds a node, even if the tree is full.
  const Step marker{.kind = StepKind::collapsed};
  const std::uint32_t step = make_step(marker);
  make_child(kRoot, step);
  make_child(kPcOnlyRoot, step);
}

Profile::Placed Profile::add(const core::SampleTaken& sample) {
  count(sample);
  path_.clear();
  const std::uint32_t thread = thread_number(sample.thread, sample.process, sample.time);
  return {sample.with_stack ? add_stack(sample, thread) : add_pc(sample), thread};
}

void Profile::count(const core::SampleTaken& sample) {
  (sample.kind == core::SampleKind::on_cpu ? counts_.on_cpu : counts_.blocked) += sample.count;
  if (!sample.with_stack) {
    return;
  }
  counts_.with_stack += sample.count;
  counts_.ends.at(static_cast<std::size_t>(sample.stack.end)) += sample.count;
  counts_.truncated += core::is_truncated(sample.stack.end) ? sample.count : 0;
}

std::uint32_t Profile::add_stack(const core::SampleTaken& sample, std::uint32_t thread) {
  const bool blocked = sample.kind == core::SampleKind::blocked;
  const std::vector<core::Frame>& frames = sample.stack.frames;
  if (by_thread_) {
    path_.push_back({thread, {}, StepKind::thread});
  }
  if (core::is_truncated(sample.stack.end) || (frames.empty() && !blocked)) {
    path_.push_back({.kind = StepKind::truncated});
  }
  std::transform(frames.rbegin(), frames.rend(), std::back_inserter(path_), step_of);
  if (blocked) {
    path_.push_back({syscall_number(sample.blocked_in), {}, StepKind::blocked});
  }

  // Consecutive samples mostly share their outer frames, which need no lookup.
  const std::size_t comparable = std::min(path_.size(), last_nodes_.size());
  std::size_t depth = 0;
  while (depth < comparable && path_[depth] == last_path_[depth]) {
    ++depth;
  }
  last_nodes_.resize(depth);
  std::uint32_t node = depth == 0 ? kRoot : last_nodes_.back();
  for (; depth < path_.size(); ++depth) {
    const std::uint32_t next = child(node, path_[depth]);
    if (next == IdIndex::kNone) {
      node = collapsed_under(node);
      counts_.collapsed += sample.count;
      break;
    }
    node = next;
    last_nodes_.push_back(node);
  }
  nodes_[node].samples += sample.count;
  last_path_.swap(path_);
  return node;
}

std::uint32_t Profile::add_pc(const core::SampleTaken& sample) {
  Step step{.kind = StepKind::truncated};
  if (sample.kind == core::SampleKind::blocked) {
    step = {syscall_number(sample.blocked_in), {}, StepKind::blocked};
  } else if (!sample.stack.frames.empty()) {
    step = step_of(sample.stack.frames.front());
  }
  std::uint32_t node = child(kPcOnlyRoot, step);
  if (node == IdIndex::kNone) {
    node = collapsed_under(kPcOnlyRoot);
    counts_.collapsed += sample.count;
  }
  nodes_[node].samples += sample.count;
  return node;
}

std::size_t Profile::add(const core::ModuleSeen& seen) {
  const auto [place, is_new] =
      module_places_.try_emplace(static_cast<std::uint32_t>(seen.module.id), modules_.size());
  if (is_new) {
    modules_.push_back(seen.module);
  } else {
    modules_[place->second] = seen.module;
  }
  return place->second;
}

void Profile::add(const core::ProcessSeen& seen) {
  if (processes_.size() < kMaxProcesses) {
    processes_.push_back(seen);
  } else {
    ++unlisted_processes_;
  }
}

std::uint32_t Profile::add(const core::ThreadSeen& seen) {
  const std::uint32_t number = thread_number(seen.thread, seen.process, seen.time);
  Thread& thread = threads_[number];
  if (thread.id == seen.thread && !seen.name.empty()) {
    thread.name = seen.name;
  }
  return number;
}

void Profile::begin_again(const std::unordered_set<core::ThreadId>& alive, core::TimePoint since) {
  Profile next(by_thread_, max_nodes_);
  next.modules_ = std::move(modules_);
  next.module_places_ = std::move(module_places_);
  std::unordered_set<pid_t> kept;  // a process that executes another program keeps its pid
  for (Thread& thread : threads_) {
    const bool is_one = thread.id != core::ThreadId{};  // else it stands for several
    if (is_one && (alive.empty() || alive.contains(thread.id))) {
      next.thread_numbers_.emplace(thread.id, static_cast<std::uint32_t>(next.threads_.size()));
      kept.insert(thread.process.pid);
      thread.seen = std::max(thread.seen, since);
      next.threads_.push_back(std::move(thread));
    }
  }
  std::copy_if(std::make_move_iterator(processes_.begin()),
               std::make_move_iterator(processes_.end()), std::back_inserter(next.processes_),
               [&](const core::ProcessSeen& seen) {
                 return alive.empty() || kept.contains(seen.process.pid);
               });
  *this = std::move(next);
}

std::size_t Profile::bytes() const {
  return nodes_.capacity() * sizeof(Node) + steps_.capacity() * sizeof(Step) + node_index_.bytes() +
         step_index_.bytes();
}

/// The node of `step` under `node`, created if necessary; kNone if there is no room.
std::uint32_t Profile::child(std::uint32_t node, const Step& step) {
  const std::uint32_t found = find_child(node, step);
  if (found != IdIndex::kNone || is_full()) {
    return found;
  }
  std::uint32_t step_id = find_step(step);
  if (step_id == IdIndex::kNone) {
    if (steps_.size() >= kMaxSteps) {
      return IdIndex::kNone;
    }
    step_id = make_step(step);
  }
  return make_child(node, step_id);
}

std::uint32_t Profile::find_step(const Step& step) const {
  return step_index_.find(hash_of(step), [&](std::uint32_t id) { return steps_[id] == step; });
}

std::uint32_t Profile::make_step(const Step& step) {
  const auto id = static_cast<std::uint32_t>(steps_.size());
  reserve_for_one_more(steps_, kMaxSteps);
  steps_.push_back(step);
  step_index_.insert(id, [this](std::uint32_t of) { return hash_of(steps_[of]); });
  return id;
}

/// Compares the step itself and not its number, which would take a second lookup for each frame.
std::uint32_t Profile::find_child(std::uint32_t node, const Step& step) const {
  return node_index_.find(mixed(hash_of(step), node), [&](std::uint32_t id) {
    return nodes_[id].parent == node && steps_[nodes_[id].step] == step;
  });
}

std::uint32_t Profile::make_child(std::uint32_t node, std::uint32_t step_id) {
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  reserve_for_one_more(nodes_, hard_max_nodes_);
  nodes_.push_back({node, step_id, 0});
  node_index_.insert(id, [this](std::uint32_t of) {
    return mixed(hash_of(steps_[nodes_[of].step]), nodes_[of].parent);
  });
  return id;
}

/// The marker under `node`. Markers have a small reserve of nodes; if that is used up too, returns
/// the marker of the nearest outer frame that has one.
std::uint32_t Profile::collapsed_under(std::uint32_t node) {
  const Step marker{.kind = StepKind::collapsed};
  const std::uint32_t step_id = find_step(marker);
  for (;; node = nodes_[node].parent) {
    const std::uint32_t found = find_child(node, marker);
    if (found != IdIndex::kNone) {
      return found;
    }
    if (nodes_.size() < hard_max_nodes_) {
      return make_child(node, step_id);
    }
  }
}

std::uint32_t Profile::thread_number(core::ThreadId id, core::ProcessId process,
                                     core::TimePoint seen) {
  const auto known = thread_numbers_.find(id);
  if (known != thread_numbers_.end()) {
    return known->second;
  }
  if (threads_.size() > kMaxThreads) {
    return kMaxThreads;
  }
  const auto number = static_cast<std::uint32_t>(threads_.size());
  if (threads_.size() == kMaxThreads) {
    threads_.push_back({{}, {}, "other threads", seen});
    return number;
  }
  threads_.push_back({id, process, {}, seen});
  thread_numbers_.emplace(id, number);
  return number;
}

std::uint32_t Profile::syscall_number(const std::string& name) {
  const auto [place, is_new] =
      syscall_numbers_.try_emplace(name, static_cast<std::uint32_t>(syscalls_.size()));
  if (is_new) {
    syscalls_.push_back(name);
  }
  return place->second;
}

}  // namespace sp::profiler
