#include "supervisor/linux/helper_threads.h"

#include <unistd.h>

namespace sp::supervisor {

HelperThreads::Membership::Membership(HelperThreads& threads) : threads_(threads) {
  const std::lock_guard lock(threads_.mutex_);
  threads_.tids_.push_back(::gettid());
  threads_.count_ = threads_.tids_.size();
  if (threads_.cpus_) {
    ::sched_setaffinity(0, sizeof *threads_.cpus_, &*threads_.cpus_);
  }
}

HelperThreads::Membership::~Membership() {
  const std::lock_guard lock(threads_.mutex_);
  std::erase(threads_.tids_, ::gettid());
  threads_.count_ = threads_.tids_.size();
}

HelperThreads& HelperThreads::of_process() {
  static HelperThreads threads;
  return threads;
}

void HelperThreads::keep_on(const cpu_set_t& cpus) {
  const std::lock_guard lock(mutex_);
  cpus_ = cpus;
  for (const pid_t tid : tids_) {
    ::sched_setaffinity(tid, sizeof cpus, &cpus);  // a refusal costs speed, nothing else
  }
}

}  // namespace sp::supervisor
