#include "profiler/emitter/emitter.h"

#include <random>
#include <utility>

#include "profiler/emitter/crash_line.h"
#include "profiler/emitter/process_metrics.h"

namespace sp::profiler {
namespace {

std::uint64_t random_id() {
  constexpr unsigned kHalf = 32;
  std::random_device random;
  return std::uint64_t{random()} << kHalf | random();
}

}  // namespace

Emitter::Emitter(EmitOptions options, Run run, const ContextTree& tree, TreeIds& ids, Namer& namer)
    : options_(std::move(options)),
      run_(std::move(run)),
      tree_(tree),
      ids_(ids),
      namer_(namer),
      run_id_(random_id()),
      socket_(options_),
      budget_(options_.limit, run_.started),
      until_(run_.started) {}

void Emitter::add(const core::Module& module) {
  const auto known = std::find_if(modules_.begin(), modules_.end(),
                                  [&](const core::Module& one) { return one.id == module.id; });
  if (known == modules_.end()) {
    modules_.push_back(module);
  } else {
    *known = module;
  }
  needs_hello_ = true;
}

void Emitter::add(const NamedCrash& crash) {
  events_ += crash_line(crash, ids_, options_.has_names);
  crashed_.insert(crash.pid);
}

void Emitter::tell(const core::TraceRequest& change) {
  const core::TraceAction action = change.action;
  const bool is_awake = action == core::TraceAction::on;
  if (is_awake || action == core::TraceAction::off || action == core::TraceAction::gave_up) {
    events_ += state_line(is_awake, change.reason.empty() ? "ctl" : change.reason, change.pid);
  }
}

void Emitter::step(core::TimePoint now) {
  if (!socket_.is_connected()) {
    if (!socket_.connect(now)) {
      return;
    }
    // Another reader, perhaps: it knows nothing.
    greet();
    socket_.put(symbols_from(0) + flight_.value_or(""));
    is_ended_ = false;
  }
  if (!socket_.step(now)) {
    pulls_ = 0;
    return;
  }
  pulls_ += socket_.take_pulls();
  advance(now, false);
}

/// Sends what is due as long as the reader takes it.
void Emitter::advance(core::TimePoint now, bool is_last) {
  while (socket_.is_taken()) {
    flight_.reset();
    if (needs_hello_) {
      greet();
    } else if (!events_.empty()) {
      send_events(now);
    } else if (pulls_ > 0) {
      --pulls_;
      send_profile(now);
    } else if (has_news() && (is_last || is_due(now))) {
      send_profile(now);
    } else {
      return;
    }
    if (!socket_.step(now)) {
      return;
    }
    pulls_ += socket_.take_pulls();
  }
}

bool Emitter::is_due(core::TimePoint now) const {
  return now - until_ >= budget_.period(options_.every, now);
}

void Emitter::greet() {
  const core::RunFacts facts = run_.facts_now ? run_.facts_now() : core::RunFacts();
  socket_.put(hello_line({facts, run_.version, run_id_, run_.started, options_, modules_}));
  needs_hello_ = false;
  pid_ = facts.pid;
}

void Emitter::send_profile(core::TimePoint now) {
  flight_ = profile(now) + std::exchange(events_, {});
  const std::string metrics = metrics_line(pid_ > 0 ? read_metrics(pid_) : ProcessMetrics());
  budget_.spend(flight_->size() + metrics.size(), now);
  socket_.put(std::exchange(symbols_, {}) + *flight_ + metrics);
}

void Emitter::send_events(core::TimePoint now) {
  if (has_news()) {
    send_profile(now);
  } else {
    flight_ = std::exchange(events_, {});
    socket_.put(*flight_);
  }
}

std::string Emitter::profile(core::TimePoint now) {
  const ContextTree::Totals& totals = tree_.totals();
  std::vector<NodeCounts> all = node_counts(tree_.nodes());
  std::vector<NodeCounts> news = all;
  for (std::size_t node = 0; node < sent_.size(); ++node) {
    news[node].calls -= sent_[node].calls;
    news[node].self -= sent_[node].self;
  }
  EmitProfile profile;
  profile.seq = seq_++;
  profile.since_us = core::microseconds(until_ - run_.started);
  profile.until_us = core::microseconds(now - run_.started);
  profile.lost_events = totals.lost_events - told_.lost_events;
  profile.lost_samples = totals.lost_samples - told_.lost_samples;
  append_nodes(profile.tree, tree_, news, ids_, {});
  if (options_.has_names) {
    symbols_ = new_symbols(news);
  }
  sent_ = std::move(all);
  told_ = totals;
  until_ = now;
  return profile_line(profile);
}

std::string Emitter::new_symbols(const std::vector<NodeCounts>& news) {
  const std::size_t before = named_.size();
  const auto& nodes = tree_.nodes().all();
  std::vector<bool> is_done(nodes.size());
  for (std::size_t node = 0; node < news.size(); ++node) {
    if (news[node].calls == 0 && news[node].self == 0) {
      continue;
    }
    // The nodes that lead to it are told, too.
    for (auto at = static_cast<std::uint32_t>(node); at != ContextNodes::kRoot && !is_done[at];
         at = nodes[at].parent) {
      is_done[at] = true;
      const std::uint32_t function = nodes[at].function;
      if (function != ContextNodes::kThread && is_named_.insert(function).second) {
        named_.push_back(function);
      }
    }
  }
  return symbols_from(before);
}

std::string Emitter::symbols_from(std::size_t first) {
  std::vector<EmitSymbol> symbols;
  for (std::size_t i = first; i < named_.size(); ++i) {
    symbols.push_back(symbol(tree_.functions().all()[named_[i]].start));
  }
  return symbols.empty() ? std::string() : symbols_line(symbols);
}

EmitSymbol Emitter::symbol(core::ModuleOffset start) {
  const symbols::NamedFrame& named = namer_.name(start, false).back();
  EmitSymbol symbol{ids_.function(start), named.function, {}, start.offset};
  for (const core::Module& module : modules_) {
    if (module.id == start.module) {
      symbol.module = module.path;
    }
  }
  if (named.source) {
    symbol.file = named.source->file;
    symbol.line = named.source->line;
  }
  return symbol;
}

bool Emitter::finish(const core::RunFacts& facts) {
  constexpr core::Duration kPause = std::chrono::milliseconds(10);
  const core::TimePoint deadline = core::Clock::now() + kLongestFinish;
  socket_.retry_now();
  step(core::Clock::now());
  if (!socket_.is_connected()) {
    return false;  // nobody is there
  }
  for (core::TimePoint now = core::Clock::now(); now < deadline; now = core::Clock::now()) {
    // What a reader that pauses has not taken by then is left to it in the socket.
    const bool hurries = deadline - now < kLongestFinish / 2;
    if (send_rest(facts, hurries) && socket_.is_taken()) {
      return true;
    }
    socket_.wait(kPause);
    step(core::Clock::now());
  }
  return is_ended_ && socket_.is_connected() && socket_.is_sent();
}

/// True if everything is put.
bool Emitter::send_rest(const core::RunFacts& facts, bool hurries) {
  const core::TimePoint now = core::Clock::now();
  const bool may_put =
      socket_.is_connected() && (socket_.is_taken() || (hurries && socket_.is_sent()));
  if (is_ended_ || !may_put) {
    return is_ended_;
  }
  if (needs_hello_) {
    greet();  // nothing may come behind the end
  }
  if (has_news() || !events_.empty()) {
    send_events(now);
  } else {
    flight_.reset();
  }
  if (facts.end == core::RunEnd::target_killed && !crashed_.contains(facts.pid)) {
    socket_.put(killed_line(facts.pid, facts.exit_signal.value_or(0)));
  }
  if (facts.end == core::RunEnd::target_exited) {
    socket_.put(exit_line(facts.exit_status.value_or(0)));
  } else if (facts.end == core::RunEnd::detached) {
    socket_.put(log_line("info", "detached; the process goes on"));
  }
  is_ended_ = true;
  return socket_.step(now);
}

}  // namespace sp::profiler
