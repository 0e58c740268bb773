#include "supervisor/sampling/cpu_filler.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

#include "supervisor/linux/cpu_quota.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// Two processes that come and go in this time.
constexpr std::uint64_t kDenseChanges = 4;
constexpr core::Duration kDenseTime = milliseconds(20);
/// For so long after that nobody needs to come.
constexpr core::Duration kStaysDense = milliseconds(40);
/// Of the scans that found a thread running, this part found two: they need both CPUs.
constexpr double kSideBySide = 0.15;
constexpr double kWeightOfScan = 0.1;
constexpr core::Duration kForgotten = milliseconds(50);
constexpr int kNice = 19;
constexpr int kMostNice = 9;  // a thread of this priority gets ten times as much

}  // namespace

CpuFiller::~CpuFiller() {
  work_ = Work::over;
  work_.notify_one();
}

bool CpuFiller::look(core::TimePoint now, std::size_t running, std::uint64_t changes) {
  if (running > 0) {
    side_by_side_ += kWeightOfScan * ((running > 1 ? 1.0 : 0.0) - side_by_side_);
  }
  const bool dense = changes - changes_then_ >= kDenseChanges;
  if (dense && now - window_start_ <= kDenseTime) {
    dense_until_ = now + kStaysDense;
  }
  if (dense || now - window_start_ > kDenseTime) {
    window_start_ = now;
    changes_then_ = changes;
  }
  return now < dense_until_ && side_by_side_ < kSideBySide;
}

void CpuFiller::fill(core::TimePoint now, const cpu_set_t& cpus) {
  if (!is_usable_ || (tid_ == 0 && !start())) {
    is_usable_ = false;
    return;
  }
  if (CPU_EQUAL(&cpus, &filled_) == 0) {
    filled_ = cpus;
    ::sched_setaffinity(tid_, sizeof filled_, &filled_);  // a refusal costs speed, nothing else
  }
  fills_ = true;
  until_ = (now + kForgotten).time_since_epoch().count();
  if (work_.exchange(Work::filling) == Work::none) {
    work_.notify_one();
  }
}

bool CpuFiller::start() {
  // The target has our priority.
  if (cpu_is_rationed() || ::getpriority(PRIO_PROCESS, 0) > kMostNice) {
    return false;
  }
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::system_error&) {
    return false;  // no more threads are allowed
  }
  tid_.wait(0);
  return tid_ > 0;
}

void CpuFiller::pause() {
  fills_ = false;
  seen_there_ = 0;
  work_ = Work::none;
}

bool CpuFiller::is_in_the_way(int cpu) {
  constexpr int kVisits = 3;
  seen_there_ = CPU_ISSET(cpu, &filled_) ? seen_there_ + 1 : 0;
  return !fills_ || seen_there_ > kVisits;
}

void CpuFiller::run() {
  ::prctl(PR_SET_NAME, "sp-filler");
  const bool is_behind = ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice) == 0;
  tid_ = is_behind ? ::gettid() : -1;
  tid_.notify_one();
  if (!is_behind) {
    return;
  }
  while (work_ != Work::over) {
    work_.wait(Work::none);
    while (work_ == Work::filling) {
      if (core::Clock::now().time_since_epoch().count() > until_) {
        Work was = Work::filling;
        work_.compare_exchange_strong(was, Work::none);
      }
    }
  }
}

}  // namespace sp::supervisor
