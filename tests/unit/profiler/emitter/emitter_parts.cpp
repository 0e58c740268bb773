#include <gtest/gtest.h>

#include <optional>

#include "core/fd.h"
#include "profiler/emitter/emit_budget.h"
#include "profiler/emitter/emit_lines.h"
#include "profiler/emitter/emit_options.h"
#include "profiler/emitter/process_metrics.h"
#include "unit/profiler/emitter/emit_reader.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::profiler {
namespace {

using test::listen_at;
using test::socket_pair;
using namespace std::chrono_literals;

TEST(EmitBudget, stretches_the_period_from_nine_tenths_on) {
  const core::TimePoint began{};
  EmitBudget budget(EmitLimit{1000, 100s}, began);
  budget.spend(100, began + 1s);
  EXPECT_EQ(budget.period(1s, began + 1s), 1s);
  for (int i = 2; i < 10; ++i) {
    budget.spend(100, began + 1s * i);
  }
  EXPECT_EQ(budget.period(1s, began + 10s), 90s);  // one profile is left
  budget.spend(50, began + 11s);
  EXPECT_EQ(budget.period(1s, began + 20s), 80s);
  EXPECT_EQ(budget.period(1s, began + 100s), 1s);
  budget.spend(50, began + 205s);
  EXPECT_EQ(budget.period(1s, began + 206s), 1s);
  EXPECT_EQ(EmitBudget({}, began).period(1s, began), 1s);
}

TEST(ProcessMetrics, are_read_past_a_name_with_brackets) {
  const ProcessMetrics metrics =
      parse_metrics("7 (a) 1 2) S 1 7 7 0 -1 4194560 101 0 0 0 12 34 0 0 20 0 1 0 5 6 7",
                    "Name:\ta\nVmHWM:\t     20 kB\nVmRSS:\t     10 kB\nThreads:\t3\n"
                    "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n",
                    "", 100);
  EXPECT_EQ(metrics.cpu_user_us, 120'000U);
  EXPECT_EQ(metrics.cpu_system_us, 340'000U);
  EXPECT_EQ(metrics.rss_bytes, 10'240U);
  EXPECT_EQ(metrics.peak_rss_bytes, 20'480U);
  EXPECT_EQ(metrics.threads, 3U);
  EXPECT_EQ(metrics.switches, 5U);
  EXPECT_EQ(metrics.involuntary_switches, 6U);
  EXPECT_EQ(metrics.read_bytes, std::nullopt);
  EXPECT_EQ(metrics_line(parse_metrics("", "", "", 100)).find("0"), std::string::npos);
}

TEST(CheckReader, refuses_what_is_no_socket) {
  const test::TemporaryDirectory directory;
  const auto note = check_reader({.path = directory.path() + "/reader"});
  ASSERT_TRUE(note);
  EXPECT_NE(note->find("nobody listens"), std::string::npos);
  const auto no_directory = check_reader({.path = directory.path() + "/no/reader"});
  ASSERT_FALSE(no_directory);
  EXPECT_NE(no_directory.error().code, 0);
  const auto no_socket = check_reader({.path = directory.path()});
  ASSERT_FALSE(no_socket);
  EXPECT_EQ(no_socket.error().code, 0);
  EXPECT_FALSE(check_reader({.fd = 987}));
  auto [ours, theirs] = socket_pair();
  EXPECT_EQ(check_reader({.fd = ours.get()}).value_or("?"), "");
  const core::UniqueFd listener = listen_at(directory.path() + "/reader");
  EXPECT_EQ(check_reader({.path = directory.path() + "/reader"}).value_or("?"), "");
}

}  // namespace
}  // namespace sp::profiler
