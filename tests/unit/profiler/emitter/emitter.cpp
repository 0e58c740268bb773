#include "profiler/emitter/emitter.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "unit/profiler/crash/crashes.h"
#include "unit/profiler/emitter/emit_reader.h"
#include "unit/profiler/temporary_directory.h"
#include "unit/profiler/tree/tree_events.h"

namespace sp::profiler {
namespace {

using test::listen_at;
using test::Reader;
using test::socket_pair;
using test::sum_of;
using test::TreeEvents;
using namespace std::chrono_literals;

constexpr std::uint64_t kMain = 0x1000;
constexpr std::uint64_t kF = 0x2000;

class EmitterTest : public testing::Test {
 protected:
  EmitterTest() {
    program_.build_id = "00ff10";
    ids_.add(program_);
    tree_.add(core::ModuleSeen{program_});
    facts_ = test::facts();
    facts_.pid = ::getpid();
  }

  Emitter emitter(EmitOptions options) {
    Emitter made(std::move(options), {now_, "0.1.0", [this] { return facts_; }}, tree_, ids_,
                 namer_);
    made.add(program_);
    return made;
  }
  /// To the other end of a new pair.
  Emitter emitter_to(std::optional<Reader>& reader, EmitOptions options = {}) {
    auto [ours, theirs] = socket_pair();
    reader.emplace(std::move(theirs));
    options.fd = ours.release();
    return emitter(std::move(options));
  }
  void call(int times = 1) {
    TreeEvents events;
    for (int i = 0; i < times; ++i) {
      events.enter(kF, 90, kMain + 0x10).leave(kF, 90);
    }
    tree_.add(events.taken());
    calls_ += static_cast<std::uint64_t>(times);
  }
  /// A second later.
  core::TimePoint later() { return now_ += 1001ms; }

  test::TableNamer namer_;
  core::Module program_ = test::module(test::kProgram, core::ModuleKind::file, "/usr/bin/demo");
  TreeIds ids_;
  ContextTree tree_{{}, namer_};
  core::RunFacts facts_;
  core::TimePoint now_ = core::Clock::now();
  std::uint64_t calls_ = 0;
};

TEST_F(EmitterTest, greets_then_sends_a_delta_each_period_with_news) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader, {.labels = {"commit=abc", "commit=def", "x==\""}});
  out.step(now_);
  ASSERT_TRUE(reader->read());
  ASSERT_EQ(reader->lines("hello").size(), 1U);
  const std::string hello = reader->lines("hello")[0];
  EXPECT_NE(hello.find("\"labels\":{\"commit\":\"def\",\"x\":\"=\\\"\"}"), std::string::npos)
      << hello;
  EXPECT_NE(hello.find("\"build_id\":\"00ff10\""), std::string::npos);
  EXPECT_NE(hello.find("\"period_us\":1000000"), std::string::npos);
  call(3);
  out.step(now_ += 500ms);
  EXPECT_FALSE(reader->read());  // too early
  out.step(later());
  ASSERT_TRUE(reader->read());
  ASSERT_EQ(reader->lines("profile").size(), 1U);
  EXPECT_EQ(reader->sum("nCalls"), 3U);
  EXPECT_EQ(reader->lines("symbols").size(), 1U);
  ASSERT_EQ(reader->lines("metrics").size(), 1U);
  EXPECT_GT(sum_of(reader->lines("metrics")[0], "rss_bytes"), 100'000U);
  out.step(later());
  EXPECT_FALSE(reader->read());  // no news
  call(2);
  out.step(later());
  ASSERT_TRUE(reader->read());
  EXPECT_EQ(reader->sum("nCalls"), 5U);
  EXPECT_EQ(reader->lines("symbols").size(), 1U);  // it is known
}

TEST_F(EmitterTest, has_no_names_if_none_are_wanted) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader, {.has_names = false});
  out.step(now_);
  ASSERT_TRUE(reader->read());
  call();
  out.step(later());
  ASSERT_TRUE(reader->read());
  EXPECT_EQ(reader->lines("symbols").size(), 0U);
  EXPECT_EQ(reader->lines("profile").size(), 1U);
}

TEST_F(EmitterTest, a_slow_reader_gets_what_came_meanwhile_at_once) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader);
  out.step(now_);
  ASSERT_TRUE(reader->read());
  for (int second = 0; second < 10; ++second) {
    call(7);
    out.step(later());
  }
  ASSERT_TRUE(reader->read());
  EXPECT_EQ(reader->lines("profile").size(), 1U);
  EXPECT_EQ(reader->sum("nCalls"), 7U);
  out.step(later());
  ASSERT_TRUE(reader->read());
  EXPECT_EQ(reader->lines("profile").size(), 2U);
  EXPECT_EQ(reader->sum("nCalls"), calls_);
}

TEST_F(EmitterTest, a_line_that_does_not_fit_is_sent_in_parts) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader);
  TreeEvents events;
  events.enter(kMain, 100);
  for (std::uint64_t at = 0; at < 20'000; ++at) {
    events.enter(kF, 90, kMain + at).leave(kF, 90);
  }
  tree_.add(events.taken());
  out.step(now_);
  for (int round = 0; round < 10'000 && reader->lines("metrics").empty(); ++round) {
    (void)reader->read(10'000);
    out.step(now_ += 100ms);
  }
  EXPECT_EQ(reader->sum("nCalls"), 20'001U);
  EXPECT_EQ(reader->lines("profile").size(), 1U);
}

TEST_F(EmitterTest, each_byte_gets_a_profile) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader);
  out.step(now_);
  ASSERT_TRUE(reader->read());
  call(5);
  reader->ask(20);
  for (int i = 0; i < 22; ++i) {
    reader->ask(i % 2 == 0 ? 1 : 0);
    reader->ask(i % 2 == 0 ? 1 : 0);
    call();
    out.step(now_ += 1ms);
    (void)reader->read();
  }
  for (int i = 0; i < 60; ++i) {
    out.step(now_ += 1ms);
    (void)reader->read();
  }
  EXPECT_EQ(reader->lines("profile").size(), 42U);
  EXPECT_EQ(reader->lines("metrics").size(), 42U);
  EXPECT_EQ(reader->sum("nCalls"), calls_);
}

TEST_F(EmitterTest, a_crash_is_told_at_once_behind_the_calls_that_led_to_it) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader);
  out.step(now_);
  ASSERT_TRUE(reader->read());
  call(3);
  out.add(name_crash(test::crash(), {program_}, namer_));
  out.step(now_ += 1ms);  // no period has passed
  ASSERT_TRUE(reader->read());
  EXPECT_EQ(reader->sum("nCalls"), 3U);
  ASSERT_EQ(reader->lines("event").size(), 1U);
  EXPECT_NE(reader->lines("event")[0].find("SIGSEGV"), std::string::npos);
  out.step(now_ += 1ms);
  EXPECT_FALSE(reader->read());
}

TEST_F(EmitterTest, the_end_by_a_signal_is_told_with_the_stacks_or_without) {
  for (const bool is_seen : {true, false}) {
    std::optional<Reader> reader;
    Emitter out = emitter_to(reader);
    out.step(now_);
    ASSERT_TRUE(reader->read());
    core::RunFacts facts = facts_;
    facts.end = core::RunEnd::target_killed;
    facts.exit_signal = is_seen ? SIGSEGV : SIGKILL;
    if (is_seen) {
      core::CrashSeen seen = test::crash();
      seen.process.pid = facts.pid;
      out.add(name_crash(seen, {program_}, namer_));
    }
    std::thread reads([&] {
      while (reader->lines("event").empty()) {
        (void)reader->read();
      }
    });
    EXPECT_TRUE(out.finish(facts));
    reads.join();
    ASSERT_EQ(reader->lines("event").size(), 1U);
    EXPECT_EQ(reader->lines("event")[0].find("\"stackTrace\":null") == std::string::npos, is_seen);
  }
}

TEST_F(EmitterTest, a_reader_may_stop_to_send) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader);
  out.step(now_);
  reader->stop_sending();
  ASSERT_TRUE(reader->read());
  call();
  out.step(later());
  ASSERT_TRUE(reader->read());
  EXPECT_EQ(reader->sum("nCalls"), 1U);
}

TEST_F(EmitterTest, what_a_dead_reader_has_not_read_goes_to_the_next_one) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/reader";
  Emitter out = emitter({.path = path});
  call(2);
  out.step(now_);  // nobody is there
  const core::UniqueFd listener = listen_at(path);
  out.step(now_ += 500ms);
  EXPECT_LT(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), 0) << "too early";
  out.step(later());
  Reader first(core::UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  ASSERT_TRUE(first.read());
  out.step(later());
  ASSERT_TRUE(first.read(40));  // a part of a line
  EXPECT_EQ(first.lines("profile").size(), 0U);
  call(3);
  first.close();
  out.step(later());  // sees it
  out.step(later());  // a second later: it is back
  Reader second(core::UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  ASSERT_TRUE(second.read());
  EXPECT_EQ(second.lines("hello").size(), 1U);
  ASSERT_EQ(second.lines("profile").size(), 1U);
  EXPECT_NE(second.lines("profile")[0].find("\"seq\":0,"), std::string::npos);
  EXPECT_EQ(second.lines("symbols").size(), 1U);
  EXPECT_EQ(second.sum("nCalls"), 2U);
  out.step(later());
  ASSERT_TRUE(second.read());
  EXPECT_EQ(second.sum("nCalls"), 5U);
}

TEST_F(EmitterTest, tries_again_less_and_less_often) {
  const test::TemporaryDirectory directory;
  ReaderSocket socket({.path = directory.path() + "/reader"});
  for (int second = 0; second < 200; ++second) {
    EXPECT_FALSE(socket.connect(now_ + std::chrono::seconds(second)));
  }
  // 0, 1, 3, 7, 15, 31, 63, 123, 183: the next is at 243.
  const core::UniqueFd listener = listen_at(directory.path() + "/reader");
  EXPECT_FALSE(socket.connect(now_ + 242s));
  EXPECT_TRUE(socket.connect(now_ + 243s));
}

TEST_F(EmitterTest, the_end_sends_the_rest_and_the_status) {
  std::optional<Reader> reader;
  Emitter out = emitter_to(reader);
  out.step(now_);
  ASSERT_TRUE(reader->read());
  call(4);
  facts_.exit_status = 3;
  EXPECT_TRUE(out.finish(facts_));  // the socket holds it
  while (reader->read()) {
  }
  EXPECT_EQ(reader->sum("nCalls"), 4U);
  ASSERT_EQ(reader->lines("event").size(), 1U);
  EXPECT_EQ(reader->lines("event")[0], "{\"type\":\"event\",\"data\":{\"exit\":3}}");
}

TEST_F(EmitterTest, the_end_waits_for_nobody) {
  const test::TemporaryDirectory directory;
  Emitter out = emitter({.path = directory.path() + "/reader"});
  call();
  const core::TimePoint before = core::Clock::now();
  EXPECT_FALSE(out.finish(facts_));
  EXPECT_LT(core::Clock::now() - before, 1s);
}

}  // namespace
}  // namespace sp::profiler
