// The rest of a transfer, which its thread makes by itself, at each of its instructions.
#include "supervisor/injection/transfer_rests.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "arch/native.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

constexpr core::ProcessId kProcess{1, 1};
constexpr std::size_t kPieces = 2;

/// A child that writes two pieces, twice as much as the pipe holds, and exits with 0 if it is told
/// that all were written.
class TransferRest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!arch::NativeTransferStub::kIsAvailable) {
      GTEST_SKIP() << "on this CPU the rest of a transfer is not made: README.md, Limits";
    }
    ptrace::bind_to_this_thread();
  }

  void begin_child() {
    ASSERT_EQ(::pipe(ends_.data()), 0);
    room_ = static_cast<std::size_t>(::fcntl(ends_[1], F_GETPIPE_SZ));
    child_ = ::fork();
    if (child_ == 0) {
      write_all();
    }
    ::close(ends_[1]);
    ASSERT_TRUE(wait_until_full());  // until it has begun, a sanitizer starts threads in it
    ASSERT_TRUE(ptrace::seize(child_, {}));
    ASSERT_TRUE(ptrace::interrupt(child_));
    ASSERT_TRUE(ptrace::wait_for(child_));
    const auto registers = ptrace::registers(child_);
    ASSERT_TRUE(registers);
    const auto returning = arch::NativeTransferStub::returning(*registers);
    ASSERT_TRUE(returning);
    ASSERT_EQ(returning->count, room_);
    returning_ = *registers;
  }
  [[noreturn]] void write_all() const {
    std::vector<unsigned char> data(kPieces * room_);
    std::iota(data.begin(), data.end(), 0);
    // The room in the pipe cuts the first piece in two.
    const std::size_t first = room_ + 1000;
    const std::array<iovec, kPieces> pieces{
        {{data.data(), first}, {data.data() + first, data.size() - first}}};
    const ssize_t written = ::writev(ends_[1], pieces.data(), kPieces);
    ::_exit(written == static_cast<ssize_t>(data.size()) ? 0 : 1);
  }
  [[nodiscard]] bool wait_until_full() const {
    for (int i = 0; i < 10'000; ++i) {
      int filled = 0;
      if (::ioctl(ends_[0], FIONREAD, &filled) == 0 && static_cast<std::size_t>(filled) == room_) {
        return true;
      }
      ::usleep(1000);
    }
    return false;
  }
  /// Reads what is there now; at its end, all.
  void drain(bool to_the_end) {
    std::array<unsigned char, 4096> bytes{};
    (void)::fcntl(ends_[0], F_SETFL, to_the_end ? 0 : O_NONBLOCK);
    for (;;) {
      const ssize_t got = ::read(ends_[0], bytes.data(), bytes.size());
      if (got <= 0) {
        return;
      }
      for (ssize_t i = 0; i < got; ++i) {
        are_right_ =
            are_right_ && bytes.at(static_cast<std::size_t>(i)) ==
                              static_cast<unsigned char>(read_ + static_cast<std::size_t>(i));
      }
      read_ += static_cast<std::size_t>(got);
    }
  }
  /// Steps through the code. False if the thread has left it.
  bool step() {
    drain(false);  // no call waits
    if (!ptrace::step(child_, 0) || !ptrace::wait_for(child_)) {
      return false;
    }
    const auto registers = ptrace::registers(child_);
    return registers && arch::Native::pc(*registers) != arch::Native::pc(returning_);
  }
  /// The child is where its call returns what was transferred.
  void expect_settled(int steps, bool is_inside) {
    const auto registers = ptrace::registers(child_);
    ASSERT_TRUE(registers);
    const auto sum = static_cast<std::uint64_t>(arch::NativeTrapHandler::result(*registers));
    if (is_inside) {
      ptrace::Registers expected = returning_;
      arch::NativeTransferStub::set_result(expected, sum);
      EXPECT_EQ(*registers, expected) << "after " << steps << " steps";
    }
    drain(false);
    EXPECT_EQ(sum, read_) << "after " << steps << " steps";
  }
  /// Lets the child end; its exit status.
  int end() {
    EXPECT_TRUE(ptrace::detach(child_, 0));
    drain(true);
    ::close(ends_[0]);
    int status = -1;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    EXPECT_EQ(read_, kPieces * room_);
    EXPECT_TRUE(are_right_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void TearDown() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  [[nodiscard]] core::ThreadId thread() const { return {child_, 1}; }

  /// Begins the rest in a new child for each number of steps in it, up to where it ends.
  /// `check` ends the child.
  void for_each_step(
      const std::function<void(TransferRests& rests, int steps, bool is_inside)>& check) {
    constexpr int kMostSteps = 60;  // executed instructions, two calls included
    bool is_inside = true;
    for (int steps = 0; is_inside; ++steps) {
      ASSERT_LT(steps, kMostSteps);
      ASSERT_NO_FATAL_FAILURE(begin_child());
      TransferRests rests;
      rests.begin(kProcess, thread(), 0);
      for (int i = 0; i < steps && is_inside; ++i) {
        is_inside = step();
      }
      check(rests, steps, is_inside);
      read_ = 0;
    }
  }

  pid_t child_ = -1;
  std::array<int, 2> ends_{};
  std::size_t room_ = 65536;
  std::size_t read_ = 0;
  bool are_right_ = true;
  ptrace::Registers returning_{};
};

TEST_F(TransferRest, are_made_without_a_tracer_from_any_instruction_on) {
  for_each_step([&](TransferRests& /*rests*/, int steps, bool /*is_inside*/) {
    EXPECT_EQ(end(), 0) << "detached after " << steps << " steps";
  });
}

TEST_F(TransferRest, are_settled_at_any_instruction) {
  for_each_step([&](TransferRests& rests, int steps, bool is_inside) {
    EXPECT_FALSE(rests.on_stop(thread(), InterruptStop{}, true, [] {}));
    expect_settled(steps, is_inside);
    rests.begin(kProcess, thread(), 0);
    EXPECT_EQ(end(), 0) << "begun again after " << steps << " steps";
  });
}

TEST_F(TransferRest, are_taken_over_at_any_instruction) {
  for_each_step([&](TransferRests& /*rests*/, int steps, bool is_inside) {
    TransferRests others;
    others.take_over(kProcess, thread());
    expect_settled(steps, is_inside);
    others.begin(kProcess, thread(), 0);
    EXPECT_EQ(end(), 0) << "taken over after " << steps << " steps";
  });
}

// A writev needs more room than the write before it: who takes over must not take that one's
// registers for those of the writev.
TEST_F(TransferRest, have_one_slot_for_a_thread) {
  ASSERT_NO_FATAL_FAILURE(begin_child());
  const auto area = TransferArea::find(child_);
  ASSERT_TRUE(area);
  for (const std::uint64_t number : {1, 2, 3}) {
    const auto place = area->slot_for(child_, number == 2 ? 256 : 0);
    ASSERT_TRUE(place);
    arch::NativeTransferStub::Slot slot;
    slot.minus_first_length = number;
    slot.owner = static_cast<std::uint64_t>(child_);
    ASSERT_TRUE(TargetMemory(child_).write(*place, std::as_bytes(std::span(&slot, 1))));
    const auto found = area->slot_of(child_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->minus_first_length, number);
  }
}

TEST_F(TransferRest, leave_no_code_behind) {
  ASSERT_NO_FATAL_FAILURE(begin_child());
  const auto before = TransferArea::find(child_);
  ASSERT_TRUE(before);
  std::array<std::byte, 512> was{};
  ASSERT_EQ(TargetMemory(child_).read(before->code(), was), was.size());
  TransferRests rests;
  rests.begin(kProcess, thread(), 0);
  EXPECT_FALSE(rests.on_stop(thread(), InterruptStop{}, true, [] {}));
  std::array<std::byte, 512> now{};
  ASSERT_EQ(TargetMemory(child_).read(before->code(), now), now.size());
  EXPECT_NE(now, was);
  rests.forget(kProcess, thread());
  before->remove_if_unused(child_);
  ASSERT_EQ(TargetMemory(child_).read(before->code(), now), now.size());
  EXPECT_EQ(now, was);
}

}  // namespace
}  // namespace sp::supervisor
