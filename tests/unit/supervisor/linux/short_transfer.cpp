#include "supervisor/linux/short_transfer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "core/fd.h"

namespace sp::supervisor {
namespace {

using Call = ShortTransfer::Call;

constexpr core::Address kScratch{0x1000};

std::uint64_t word(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

std::uint64_t word(const core::UniqueFd& fd) { return static_cast<std::uint64_t>(fd.get()); }

std::optional<RestOfTransfer> rest(const Call& call, std::uint64_t done, bool may_change = true) {
  return rest_of(::getpid(), {call, done}, kScratch, may_change);
}

struct Pair {
  core::UniqueFd in, out;
};

Pair pipe(int flags) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), flags), 0);
  return {core::UniqueFd(ends[0]), core::UniqueFd(ends[1])};
}

Pair sockets(int type) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends.data()), 0);
  return {core::UniqueFd(ends[0]), core::UniqueFd(ends[1])};
}

core::UniqueFd memory_file() { return core::UniqueFd(::memfd_create("test", MFD_CLOEXEC)); }

TEST(ShortTransfer, of_a_write_is_continued_behind_what_was_written) {
  const Pair ends = pipe(O_CLOEXEC);
  const auto made = rest({SYS_write, {word(ends.out), 0x5000, 100, 4, 5, 6}}, 30);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->first.number, static_cast<std::uint64_t>(SYS_write));
  EXPECT_EQ(made->first.arguments[1], 0x5000U + 30);
  EXPECT_EQ(made->first.arguments[2], 70U);
  EXPECT_FALSE(made->second);
  EXPECT_FALSE(rest({SYS_write, {word(ends.out), 0x5000, 100, 4, 5, 6}}, 100));
}

TEST(ShortTransfer, that_does_not_wait_stays_short) {
  const Pair no_waiting = pipe(O_CLOEXEC | O_NONBLOCK);
  EXPECT_FALSE(rest({SYS_write, {word(no_waiting.out), 0x5000, 100}}, 30));
  const Pair limited = sockets(SOCK_STREAM);
  const Call send{SYS_sendto, {word(limited.out), 0x5000, 100, 0, 0, 0}};
  EXPECT_TRUE(rest(send, 30));
  Call without_waiting = send;
  without_waiting.arguments[3] = MSG_DONTWAIT;
  EXPECT_FALSE(rest(without_waiting, 30));
  const timeval second{1, 0};
  ASSERT_EQ(::setsockopt(limited.out.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second), 0);
  const core::UniqueFd own(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const core::UniqueFd copy(static_cast<int>(
      own.valid() ? ::syscall(SYS_pidfd_getfd, own.get(), limited.out.get(), 0) : -1));
  if (!copy.valid()) {
    GTEST_SKIP() << "sockets of a process cannot be looked at here";
  }
  EXPECT_FALSE(rest(send, 30));
}

TEST(ShortTransfer, that_is_an_answer_stays_short) {
  const Pair messages = sockets(SOCK_DGRAM);
  EXPECT_FALSE(rest({SYS_write, {word(messages.out), 0x5000, 100}}, 30));
  const core::UniqueFd of_proc(::open("/proc/self/comm", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(rest({SYS_write, {word(of_proc), 0x5000, 100}}, 30));
  const core::UniqueFd file = memory_file();
  const Pair ends = pipe(O_CLOEXEC);
  EXPECT_FALSE(rest({SYS_sendfile, {word(ends.out), word(file), 0, 100}}, 30));
  EXPECT_FALSE(rest({SYS_read, {word(ends.in), 0x5000, 100}}, 30));
}

TEST(ShortTransfer, in_pieces_is_continued_in_its_piece_and_then_in_the_others) {
  const core::UniqueFd file = memory_file();
  char* const base = nullptr;
  const std::array<iovec, 4> pieces{
      {{base + 0x1000, 10}, {base, 0}, {base + 0x2000, 20}, {base + 0x3000, 30}}};
  const auto made = rest({SYS_pwritev, {word(file), word(pieces.data()), 4, 1000, 0, 0}}, 15);
  ASSERT_TRUE(made && made->second);
  iovec first{};
  std::memcpy(&first, made->scratch.data(), sizeof first);
  EXPECT_EQ(word(first.iov_base), 0x2005U);
  EXPECT_EQ(first.iov_len, 15U);
  EXPECT_EQ(made->first_length, 15U);
  EXPECT_EQ(made->first.arguments,
            (std::array<std::uint64_t, 6>{word(file), kScratch.value(), 1, 1015, 0, 0}));
  EXPECT_EQ(made->second->arguments,
            (std::array<std::uint64_t, 6>{word(file), word(&pieces[3]), 1, 1030, 0, 0}));
  EXPECT_FALSE(rest({SYS_pwritev, {word(file), word(pieces.data()), 4, 1000, 0, 0}}, 60));
}

TEST(ShortTransfer, to_a_socket_raises_no_signal_in_its_rest) {
  const Pair ends = sockets(SOCK_STREAM);
  const Call write{SYS_write, {word(ends.out), 0x5000, 100, 4, 5, 6}};
  const auto made = rest(write, 30);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->first.number, static_cast<std::uint64_t>(SYS_sendto));
  EXPECT_EQ(made->first.arguments,
            (std::array<std::uint64_t, 6>{word(ends.out), 0x5000 + 30, 70, MSG_NOSIGNAL, 0, 0}));
  const auto confined = rest(write, 30, false);
  ASSERT_TRUE(confined);
  EXPECT_EQ(confined->first.number, static_cast<std::uint64_t>(SYS_write));
}

TEST(ShortTransfer, by_splice_does_not_wait_for_more) {
  const Pair ends = pipe(O_CLOEXEC);
  const core::UniqueFd file = memory_file();
  const auto made = rest({SYS_splice, {word(ends.in), 0, word(file), 0, 100, 0}}, 30);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->first.arguments[4], 70U);
  EXPECT_EQ(made->first.arguments[5], static_cast<std::uint64_t>(SPLICE_F_NONBLOCK));
}

TEST(ShortTransfer, of_random_bytes_is_continued) {
  const auto made = rest({SYS_getrandom, {0x5000, 100, 0}}, 30);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->first.arguments[0], 0x5000U + 30);
  EXPECT_EQ(made->first.arguments[1], 70U);
  EXPECT_FALSE(rest({SYS_getrandom, {0x5000, 100, GRND_RANDOM}}, 30));
}

}  // namespace
}  // namespace sp::supervisor
