#include "profiler/push/pusher.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/log.h"
#include "profiler/describe.h"
#include "profiler/formats/pprof.h"
#include "profiler/gzip_stream.h"
#include "profiler/named_profile.h"
#include "profiler/push/ingest_url.h"
#include "profiler/push/named_stacks.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

std::int64_t nanoseconds_since_1970(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

Pusher::Pusher(PushOptions options, Run run, Sender::Post post)
    : options_(std::move(options)),
      run_(std::move(run)),
      delta_(new_delta(run_.started, {})),
      sender_(std::move(post)) {}

Pusher::Delta Pusher::new_delta(core::TimePoint since, core::Duration cpu) const {
  Delta delta{std::make_unique<Profile>(run_.by_thread), since, cpu};
  for (const core::ModuleSeen& seen : modules_) {
    delta.profile->add(seen);
  }
  for (const core::ThreadSeen& seen : threads_) {
    delta.profile->add(seen);
  }
  return delta;
}

void Pusher::add(const core::SampleTaken& sample) {
  delta_.profile->add(sample);
  if (later_) {
    later_->profile->add(sample);
  }
}

void Pusher::add(const core::ModuleSeen& seen) {
  modules_.push_back(seen);
  delta_.profile->add(seen);
  if (later_) {
    later_->profile->add(seen);
  }
}

void Pusher::add(const core::ThreadSeen& seen) {
  if (!run_.by_thread) {
    return;
  }
  threads_.push_back(seen);
  delta_.profile->add(seen);
  if (later_) {
    later_->profile->add(seen);
  }
}

void Pusher::tick(core::TimePoint now, Namer& namer) {
  take_answer(now);
  if (!sender_.is_busy() && now >= retry_at_ && now - delta_.since >= options_.every &&
      delta_.profile->counts().total() > 0) {
    send(run_.facts_now ? run_.facts_now() : core::RunFacts(), now, namer);
  }
}

void Pusher::take_answer(core::TimePoint now) {
  const auto answer = sender_.take_answer();
  if (!answer) {
    return;
  }
  constexpr long kOk = 200;
  constexpr long kRedirected = 300;
  if (!*answer) {
    fail(answer->error().message(), now);
  } else if (**answer < kOk || **answer >= kRedirected) {
    fail(fmt::format("it answers {}", **answer), now);
  } else {
    delta_ = std::move(*later_);
    pause_ = kFirstPause;
    has_told_ = false;
  }
  later_.reset();
}

void Pusher::fail(const std::string& why, core::TimePoint now) {
  if (!std::exchange(has_told_, true)) {
    core::log_note("--push: {} takes no profile: {}; it is tried again, nothing is lost",
                   options_.url, why);
  }
  retry_at_ = now + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void Pusher::send(const core::RunFacts& facts, core::TimePoint now, Namer& namer) {
  const auto began = nanoseconds_since_1970(facts.started_at);
  std::string program = facts.command.empty() ? facts.name : facts.command.front();
  const Ingested profile{std::string(base_name(program)), options_.labels,
                         (began + (delta_.since - run_.started).count()) / kSecond,
                         (began + (now - run_.started).count() + kSecond - 1) / kSecond};
  HttpRequest request{ingest_url(options_.url, profile),
                      {"Content-Type: application/octet-stream"},
                      pprof_of_delta(facts, now, namer)};
  if (!options_.token.empty()) {
    request.headers.push_back("Authorization: Bearer " + options_.token);
  }
  later_ = new_delta(now, facts.cost.target_cpu);
  sender_.send(std::move(request));
}

std::string Pusher::pprof_of_delta(const core::RunFacts& facts, core::TimePoint now,
                                   Namer& namer) const {
  const NamedProfile named = name_profile(*delta_.profile, namer);
  NamedStacks stacks(named);
  RecordedRun run;
  run.name = facts.name;
  run.command = command_text(facts.command);
  run.version = run_.version;
  run.started_ns = nanoseconds_since_1970(facts.started_at) + (delta_.since - run_.started).count();
  run.elapsed_seconds = core::seconds(now - delta_.since);
  run.wall = run_.wall;
  run.samples = named.counts.total();
  run.with_stack = named.counts.with_stack;
  run.on_cpu = named.counts.on_cpu;
  run.cpu_ns = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, (facts.cost.target_cpu - delta_.cpu).count()));
  for (const core::Module& module : delta_.profile->modules()) {
    if (module.kind == core::ModuleKind::file) {
      run.modules.push_back({module.path, "file", module.build_id, module.base.value()});
    }
  }
  std::ostringstream out;
  GzipBuffer gzip(out);
  std::ostream in(&gzip);
  write_pprof(in, run, stacks, nullptr);
  gzip.finish();
  return out.str();
}

bool Pusher::finish(const core::RunFacts& facts, Namer& namer) {
  const core::TimePoint deadline = core::Clock::now() + kLongestFinish;
  bool is_last = false;
  for (core::TimePoint now = core::Clock::now(); now < deadline; now = core::Clock::now()) {
    if (sender_.is_busy()) {
      sender_.wait(deadline - now);
    }
    take_answer(core::Clock::now());
    if (delta_.profile->counts().total() == 0) {
      return true;
    }
    if (is_last || sender_.is_busy()) {
      break;
    }
    is_last = true;
    send(facts, now, namer);
  }
  return false;
}

}  // namespace sp::profiler
