#include "supervisor/linux/proc_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace sp::supervisor {
namespace {

constexpr std::string_view kStat =
    "812 (name) S 1 812 812 0 -1 4194560 1023 0 0 0 15 7 3 4 20 0 9 0 5510 11730944 1024 "
    "18446744073709551615 94 94 14 0 0 0 0 4096 16384 1 0 0 17 3 0 0 0 0 0 94 94 94 14 14 14 14 "
    "0\n";

TEST(Stat, gives_state_parent_cpu_and_start) {
  const auto stat = parse_stat(kStat);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->processor, 3);
  EXPECT_EQ(stat->start_time, 5510U);
  EXPECT_EQ(stat->flags, 4194560U);
  EXPECT_EQ(stat->children_cpu, 7U);
}

TEST(Stat, is_not_confused_by_names) {
  for (const char* name : {"(a) R 1", ") R 2 3 (", "a b\nc", "))))", ""}) {
    std::string text(kStat);
    text.replace(text.find("name"), 4, name);
    const auto stat = parse_stat(text);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->state, 'S') << name;
    EXPECT_EQ(stat->processor, 3) << name;
  }
}

TEST(Stat, is_refused_where_it_is_cut_short) {
  EXPECT_FALSE(parse_stat(""));
  EXPECT_FALSE(parse_stat("812 (name"));
  EXPECT_FALSE(parse_stat("812 (name)"));
  EXPECT_FALSE(parse_stat("812 (name) S 1 2 3"));
  EXPECT_FALSE(parse_stat(kStat.substr(0, kStat.find(" 17 3 "))));
}

TEST(Stat, can_be_read_of_ourselves_and_not_of_nobody) {
  const auto own = read_stat(::getpid());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->state, 'R');
  EXPECT_GT(own->start_time, 0U);
  EXPECT_FALSE(read_stat(-5));
}

constexpr std::string_view kStatus =
    "Name:\tTgid:\nUmask:\t0022\nState:\tR (running)\nTgid:\t4711\nPid:\t4712\nTracerPid:\t0\n"
    "Empty:\nSigQ:\t0/95887\nSigPnd:\t0000000000040000\nShdPnd:\t0000000000000200\n"
    "SigBlk:\tffffffff00000001\nSigIgn:\t0000000000001000\nSigCgt:\t0000000180004002\n";

TEST(StatusField, gives_the_value_of_the_whole_name) {
  EXPECT_EQ(status_field(kStatus, "Tgid"), "4711");
  EXPECT_EQ(status_field(kStatus, "Pid"), "4712");
  EXPECT_EQ(status_field(kStatus, "State"), "R (running)");
  EXPECT_EQ(status_field(kStatus, "Name"), "Tgid:");
  EXPECT_EQ(status_field(kStatus, "Empty"), "");
  EXPECT_FALSE(status_field(kStatus, "Sig"));
  EXPECT_FALSE(status_field(kStatus, "Gone"));
  EXPECT_FALSE(status_field("", "Pid"));
}

TEST(SignalMasks, are_read_as_hex) {
  const auto masks = parse_signal_masks(kStatus);
  ASSERT_TRUE(masks);
  EXPECT_EQ(masks->thread_pending, std::uint64_t{1} << (SIGSTOP - 1));
  EXPECT_EQ(masks->process_pending, std::uint64_t{1} << (SIGUSR1 - 1));
  EXPECT_EQ(masks->blocked, 0xFFFFFFFF00000001U);
  EXPECT_EQ(masks->ignored, std::uint64_t{1} << (SIGPIPE - 1));
  EXPECT_EQ(masks->caught, 0x180004002U);
}

TEST(SignalMasks, are_refused_where_one_is_missing) {
  EXPECT_FALSE(parse_signal_masks(kStatus.substr(0, kStatus.find("SigCgt"))));
}

TEST(BlockedCall, is_nothing_where_the_thread_runs) {
  EXPECT_FALSE(parse_syscall("running\n"));
  EXPECT_FALSE(parse_syscall(""));
}

TEST(BlockedCall, gives_number_stack_and_place) {
  const auto call =
      parse_syscall("202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd290ecda0 0x7f2f77ea3f7b\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, 202);
  EXPECT_EQ(call->arguments[0], 0x7f01U);
  EXPECT_EQ(call->sp, 0x7ffd290ecda0U);
  EXPECT_EQ(call->pc, 0x7f2f77ea3f7bU);
}

TEST(BlockedCall, knows_a_wait_outside_of_system_calls) {
  const auto call = parse_syscall("-1 0x7ffd290ecda0 0x5555\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, -1);
  EXPECT_EQ(call->sp, 0x7ffd290ecda0U);
  EXPECT_EQ(call->pc, 0x5555U);
}

TEST(Processes, show_their_threads_words_and_names) {
  const auto tids = list_threads(::getpid());
  ASSERT_TRUE(tids);
  EXPECT_NE(std::find(tids->begin(), tids->end(), ::getpid()), tids->end());
  EXPECT_EQ(read_thread_group(::getpid()), ::getpid());
  EXPECT_FALSE(read_command_line(::getpid()).empty());
  EXPECT_FALSE(read_name(::getpid(), ::getpid()).empty());
}

TEST(Processes, that_are_gone_show_nothing) {
  EXPECT_FALSE(list_threads(-5));
  EXPECT_FALSE(read_thread_group(-5));
  EXPECT_TRUE(read_command_line(-5).empty());
  EXPECT_EQ(read_name(-5, -5), "");
}

}  // namespace
}  // namespace sp::supervisor
