#include "profiler/push/pusher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/push/ingest_url.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler {
namespace {

using namespace std::chrono_literals;

TEST(IngestUrl, has_the_name_with_its_labels) {
  const Ingested plain{"demo", {}, 10, 20};
  EXPECT_EQ(ingest_url("http://host:4040", plain),
            "http://host:4040/ingest?name=demo&from=10&until=20&format=pprof&"
            "spyName=superprofiler");
  EXPECT_TRUE(ingest_url("http://host/", plain).starts_with("http://host/ingest?name="));
  EXPECT_TRUE(ingest_url("https://host/a/b", plain).starts_with("https://host/a/b?name="));
  const Ingested labelled{"demo", {"b=2", "a={1},\"x\"", "name=shop & co", "b=3"}, 1, 2};
  EXPECT_NE(ingest_url("http://h", labelled)
                .find("?name=shop%20%26%20co%7Ba%3D_1___x_%2Cb%3D3%7D&from=1"),
            std::string::npos)
      << ingest_url("http://h", labelled);
}

/// Answers as it is told to.
class PusherTest : public testing::Test {
 protected:
  Pusher pusher() {
    return Pusher({.url = "http://host", .every = 10s},
                  {false, false, now_, "0.1.0", [] { return test::facts(); }},
                  [this](const HttpRequest& request, const std::function<bool()>& is_over) {
                    while (is_slow_ && !is_over()) {
                      std::this_thread::sleep_for(1ms);
                    }
                    const std::lock_guard lock(mutex_);
                    requests_.push_back(request.url);
                    return is_over() ? core::Result<long>(core::fail("over")) : answer_;
                  });
  }
  void add(Pusher& pusher, int samples) {
    for (int i = 0; i < samples; ++i) {
      pusher.add(test::sample({2, 1}));
    }
  }
  std::size_t posts() {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }
  /// Ticks until so many posts were made and the last was answered.
  void tick_until(Pusher& pusher, std::size_t posts_made) {
    for (int i = 0; i < 2000 && posts() < posts_made; ++i) {
      pusher.tick(now_, namer_);
      std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(20ms);
    pusher.tick(now_, namer_);
  }

  test::TableNamer namer_;
  core::TimePoint now_ = core::Clock::now();
  std::atomic<bool> is_slow_ = false;
  std::mutex mutex_;
  core::Result<long> answer_ = 200;
  std::vector<std::string> requests_;
};

TEST_F(PusherTest, sends_what_is_new_each_period) {
  Pusher out = pusher();
  add(out, 3);
  out.tick(now_ + 9s, namer_);
  EXPECT_EQ(posts(), 0U);
  now_ += 10s;
  tick_until(out, 1);
  EXPECT_EQ(posts(), 1U);
  now_ += 10s;
  out.tick(now_, namer_);
  EXPECT_EQ(posts(), 1U) << "there is nothing new";
  add(out, 1);
  tick_until(out, 2);
  EXPECT_EQ(posts(), 2U);
  EXPECT_TRUE(out.finish(test::facts(), namer_));
  EXPECT_EQ(posts(), 2U);
}

TEST_F(PusherTest, tries_again_later_and_later) {
  answer_ = 503;
  Pusher out = pusher();
  add(out, 3);
  now_ += 10s;
  tick_until(out, 1);
  const std::size_t before = posts();
  for (const auto pause : {1s, 2s, 4s}) {
    const std::size_t had = posts();
    out.tick(now_ + pause - 10ms, namer_);
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(posts(), had);
    now_ += pause;
    tick_until(out, had + 1);
  }
  EXPECT_EQ(posts(), before + 3);
  {
    const std::lock_guard lock(mutex_);
    answer_ = 200;
  }
  EXPECT_TRUE(out.finish(test::facts(), namer_)) << "the last try";
}

TEST_F(PusherTest, does_not_wait_for_a_server_that_says_nothing) {
  is_slow_ = true;
  const core::TimePoint began = core::Clock::now();
  {
    Pusher out = pusher();
    add(out, 3);
    now_ += 10s;
    out.tick(now_, namer_);
    add(out, 2);
    out.tick(now_ + 20s, namer_);
    EXPECT_LT(core::Clock::now() - began, 2s);
    EXPECT_FALSE(out.finish(test::facts(), namer_));
  }
  EXPECT_LT(core::Clock::now() - began, Pusher::kLongestFinish + 2s);
}

}  // namespace
}  // namespace sp::profiler
