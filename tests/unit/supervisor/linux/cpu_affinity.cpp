#include "supervisor/linux/cpu_affinity.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "supervisor/linux/helper_threads.h"

namespace sp::supervisor {
namespace {

cpu_set_t affinity_of(pid_t tid) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  EXPECT_EQ(::sched_getaffinity(tid, sizeof cpus, &cpus), 0);
  return cpus;
}

/// A thread that waits until the end of the test; it stands for one of ours or the target's.
class Waiting {
 public:
  Waiting()
      : thread_([this] {
          tid_ = static_cast<pid_t>(::syscall(SYS_gettid));
          tid_.notify_all();
          over_.wait(false);
        }) {
    tid_.wait(0);
  }
  ~Waiting() {
    over_ = true;
    over_.notify_all();
    thread_.join();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  [[nodiscard]] pid_t tid() const { return tid_; }
  void only_on(int a, int b) const {
    cpu_set_t cpus = only_cpu(a);
    CPU_SET(b, &cpus);
    ASSERT_EQ(::sched_setaffinity(tid_, sizeof cpus, &cpus), 0);
  }

 private:
  std::atomic<pid_t> tid_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

class CpuAffinityPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    int found = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) {
        (found++ == 0 ? one_ : two_) = cpu;
      }
    }
    if (found < 2) {
      GTEST_SKIP() << "one CPU: there is nothing to choose";
    }
  }
  void TearDown() override { ::sched_setaffinity(0, sizeof before_, &before_); }

  const cpu_set_t before_ = affinity_of(0);
  int one_ = 0;
  int two_ = 0;
};

TEST_F(CpuAffinityPlaces, the_server_beside_a_target_of_two_cpus_and_keeps_the_other_busy) {
  const Waiting server;
  const Waiting helper;
  const Waiting target;
  target.only_on(one_, two_);
  CpuAffinity affinity(server.tid(), {helper.tid()});
  affinity.follow(one_, target.tid());
  const cpu_set_t at_target = only_cpu(one_);
  EXPECT_TRUE(affinity.keeps_busy());
  cpu_set_t now = affinity_of(server.tid());
  EXPECT_TRUE(CPU_EQUAL(&now, &at_target));
  const cpu_set_t other = only_cpu(two_);
  now = affinity_of(0);
  EXPECT_TRUE(CPU_EQUAL(&now, &other));
  now = affinity_of(helper.tid());
  EXPECT_FALSE(CPU_ISSET(one_, &now));
  // The target's own is never touched.
  now = affinity_of(target.tid());
  EXPECT_EQ(CPU_COUNT(&now), 2);
}

TEST_F(CpuAffinityPlaces, a_server_that_interrupts_away_from_the_target) {
  for (const bool can_move : {true, false}) {
    const Waiting server;
    const Waiting target;
    target.only_on(one_, can_move ? two_ : one_);
    CpuAffinity affinity(server.tid(), {});
    affinity.server_interrupts();
    affinity.follow(one_, target.tid());
    EXPECT_FALSE(affinity.keeps_busy());
    cpu_set_t expected = before_;
    CPU_CLR(one_, &expected);
    const cpu_set_t now = affinity_of(server.tid());
    EXPECT_TRUE(CPU_EQUAL(&now, &expected));
  }
}

TEST_F(CpuAffinityPlaces, helpers_that_begin_before_or_after_it_away_from_the_target) {
  using Membership = HelperThreads::Membership;
  const Waiting server;
  const Waiting target;
  cpu_set_t away = before_;
  CPU_CLR(one_, &away);
  std::atomic<int> step{0};
  const auto affinity_in_step = [&step](int number, cpu_set_t& seen) {
    const Membership helper(HelperThreads::of_process());
    step = number;
    step.notify_all();
    step.wait(number);
    seen = affinity_of(0);
  };
  cpu_set_t first{};
  cpu_set_t second{};
  EXPECT_FALSE(HelperThreads::of_process().any());
  std::thread before([&] { affinity_in_step(1, first); });
  step.wait(0);
  EXPECT_TRUE(HelperThreads::of_process().any());
  CpuAffinity affinity(server.tid(), {});
  affinity.follow(one_, target.tid());
  step = 2;
  step.notify_all();
  before.join();
  EXPECT_TRUE(CPU_EQUAL(&first, &away));
  // The starter may be held on the target's CPU.
  const cpu_set_t at_target = only_cpu(one_);
  ASSERT_EQ(::sched_setaffinity(0, sizeof at_target, &at_target), 0);
  std::thread after([&] { affinity_in_step(3, second); });
  step.wait(2);
  step = 4;
  step.notify_all();
  after.join();
  EXPECT_TRUE(CPU_EQUAL(&second, &away));
  EXPECT_FALSE(HelperThreads::of_process().any());
  affinity.spread();
}

TEST_F(CpuAffinityPlaces, nothing_busy_for_a_target_that_cannot_move) {
  const Waiting server;
  const Waiting target;
  target.only_on(two_, two_);
  CpuAffinity affinity(server.tid(), {});
  affinity.follow(two_, target.tid());
  EXPECT_FALSE(affinity.keeps_busy());
  const cpu_set_t at_target = only_cpu(two_);
  const cpu_set_t now = affinity_of(server.tid());
  EXPECT_TRUE(CPU_EQUAL(&now, &at_target));
}

TEST_F(CpuAffinityPlaces, everything_as_it_was_where_the_target_is_on_several) {
  const Waiting server;
  const Waiting target;
  CpuAffinity affinity(server.tid(), {});
  affinity.follow(one_, target.tid());
  affinity.spread();
  EXPECT_FALSE(affinity.keeps_busy());
  for (const pid_t tid : {server.tid(), 0}) {
    const cpu_set_t now = affinity_of(tid);
    EXPECT_TRUE(CPU_EQUAL(&now, &before_));
  }
}

}  // namespace
}  // namespace sp::supervisor
