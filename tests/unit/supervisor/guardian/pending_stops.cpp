#include "supervisor/guardian/pending_stops.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

namespace sp::supervisor {
namespace {

TEST(PendingStopTable, has_an_entry_for_each_process_until_it_is_full) {
  const auto table = std::make_unique<PendingStopTable>();
  PendingStops* last = nullptr;
  for (std::size_t i = 0; i < PendingStopTable::kEntries; ++i) {
    PendingStops* const entry = table->add(static_cast<pid_t>(i + 1));
    ASSERT_NE(entry, nullptr);
    ASSERT_NE(entry, last);
    last = entry;
  }
  EXPECT_EQ(table->add(1), nullptr);
  last->pid = 0;
  EXPECT_EQ(table->add(1), last);
}

TEST(PendingStopTable, starts_an_entry_that_was_used_before_from_nothing) {
  const auto table = std::make_unique<PendingStopTable>();
  PendingStops* const entry = table->add(1);
  entry->stops_in_flight = 3;
  entry->start_time = 7;
  entry->stopped_by_others = true;
  entry->pid = 0;
  ASSERT_EQ(table->add(2), entry);
  EXPECT_EQ(entry->pid, 2);
  EXPECT_EQ(entry->start_time, 0U);
  EXPECT_EQ(entry->stops_in_flight, 0);
  EXPECT_FALSE(entry->stopped_by_others);
}

TEST(PendingStopTable, notes_once_when_its_process_began) {
  PendingStops entry;
  entry.pid = ::getpid();
  entry.note_start_time();
  const std::uint64_t begin = entry.start_time;
  EXPECT_GT(begin, 0U);
  entry.pid = ::getppid();
  entry.note_start_time();
  EXPECT_EQ(entry.start_time, begin);
}

TEST(PendingStopTable, knows_whether_any_stop_is_in_flight) {
  const auto table = std::make_unique<PendingStopTable>();
  PendingStops* const entry = table->add(1);
  EXPECT_FALSE(table->any_in_flight());
  ++entry->stops_in_flight;
  EXPECT_TRUE(table->any_in_flight());
  entry->pid = 0;  // released
  EXPECT_FALSE(table->any_in_flight());
}

}  // namespace
}  // namespace sp::supervisor
