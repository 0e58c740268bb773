#include "supervisor/sampling/ticker.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "supervisor/linux/cpu_affinity.h"

namespace sp::supervisor {
namespace {

constexpr core::Duration kLate = std::chrono::microseconds(300);

/// The argument of sched_setattr(2), which the C library does not declare.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice = 100'000;  // nanoseconds
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

}  // namespace

void wake_up_promptly() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  SchedulingAttributes attributes;
  attributes.nice = ::getpriority(PRIO_PROCESS, 0);
  ::syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

Ticker::Ticker(Ask ask, core::TimePoint first, int cpu)
    : ask_(std::move(ask)), cpu_(cpu), thread_([this, first, cpu] {
        run({first, cpu});
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Ticker::arm(core::TimePoint at, int cpu) {
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    ++arms_;  // if the tick is over already, the two are equal again
    next_ = {at, cpu};
    armed_ = true;
    waits = waits_to_be_armed_;
  }
  if (waits) {
    changed_.notify_one();
  }
}

bool Ticker::is_late(core::TimePoint due) {
  constexpr int kNoted = 32;
  const bool late = core::Clock::now() > due + kLate;
  ++noted_;
  late_ += late ? 1 : 0;
  if (noted_ == kNoted) {
    kept_waiting_ = 2 * late_ > kNoted;
    noted_ = 0;
    late_ = 0;
  }
  return late;
}

void Ticker::move_to(int cpu) {
  const cpu_set_t there = only_cpu(cpu);
  ::sched_setaffinity(0, sizeof there, &there);  // if refused: late samples, nothing worse
  cpu_ = cpu;
}

void Ticker::tick(Plan& plan) {
  constexpr int kMoves = 2;
  core::TimePoint due = plan.at;
  for (int moves = 0; !is_late(due); ++moves) {
    const auto elsewhere = ask_(plan.cpu);
    if (!elsewhere || moves == kMoves) {
      return;
    }
    due = core::Clock::now();
    plan.cpu = *elsewhere;
    move_to(plan.cpu);
  }
}

void Ticker::run(Plan plan) {
  ::prctl(PR_SET_NAME, "sp-ticker");
  wake_up_promptly();
  move_to(plan.cpu);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (changed_.wait_until(lock, plan.at, [this] { return over_; })) {
      return;
    }
    lock.unlock();
    tick(plan);
    lock.lock();
    ++ticks_;
    waits_to_be_armed_ = true;
    changed_.wait(lock, [this] { return armed_ || over_; });
    waits_to_be_armed_ = false;
    armed_ = false;
    if (std::exchange(plan, next_).cpu != next_.cpu) {
      lock.unlock();
      move_to(plan.cpu);
      lock.lock();
    }
  }
}

}  // namespace sp::supervisor
