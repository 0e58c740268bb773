#include "supervisor/guardian/guardian_messages.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace sp::supervisor {
namespace {

struct GuardianMessages : ::testing::Test {
  GuardianMessages() {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
    ours.reset(pair[0]);
    its.reset(pair[1]);
    death.reset(::eventfd(0, EFD_CLOEXEC));
  }

  bool receive() { return receive_message(its.get(), death.get(), message, descriptor); }
  void die() const { ASSERT_EQ(::eventfd_write(death.get(), 1), 0); }

  core::UniqueFd ours;
  core::UniqueFd its;
  core::UniqueFd death;
  GuardianMessage message;
  core::UniqueFd descriptor;
};

TEST_F(GuardianMessages, bring_a_descriptor_along) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const core::UniqueFd reading(pipe[0]);
  const core::UniqueFd writing(pipe[1]);
  ASSERT_TRUE(
      send_message(ours.get(), {GuardianMessage::Kind::register_memory, 4, 5}, writing.get()));
  ASSERT_TRUE(receive());
  EXPECT_EQ(message.kind, GuardianMessage::Kind::register_memory);
  EXPECT_EQ(message.space, 4U);
  EXPECT_EQ(message.address, 5U);
  ASSERT_EQ(::write(descriptor.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(reading.get(), &byte, 1), 1);
}

TEST_F(GuardianMessages, that_were_sent_before_a_death_still_arrive) {
  ASSERT_TRUE(send_message(ours.get(), {GuardianMessage::Kind::register_handler, 1, 2}, -1));
  die();
  ASSERT_TRUE(receive());
  EXPECT_EQ(message.kind, GuardianMessage::Kind::register_handler);
  EXPECT_FALSE(descriptor.valid());
  EXPECT_FALSE(receive());
}

TEST_F(GuardianMessages, end_with_the_sender) {
  ours.reset();
  EXPECT_FALSE(receive());
}

TEST_F(GuardianMessages, cannot_be_sent_to_a_guardian_that_is_gone) {
  its.reset();
  EXPECT_FALSE(send_message(ours.get(), {}, -1));
}

}  // namespace
}  // namespace sp::supervisor
