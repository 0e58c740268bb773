// Live tables of a process, and a terminal that is as it was afterwards.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "end_to_end/support.h"

namespace sp::end_to_end {
namespace {

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Top, prints_a_table_each_interval_without_a_terminal) {
  Running steady({target("steady"), "1", "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  const Outcome outcome =
      run({SP_PROGRAM, "top", "-p", std::to_string(steady.pid()), "-i", "300ms", "-d", "1500ms"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_GE(count_of(outcome.out, "  self %  total %  function\n"), 3U) << outcome.out;
  EXPECT_GE(count_of(outcome.out, " add_up  steady\n"), 3U) << outcome.out;
  EXPECT_NE(outcome.out.find("cost: overhead about "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.out;
  EXPECT_EQ(what_was_left_behind(steady.pid()), "");
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST(Top, shows_a_launched_program_on_stderr_and_ends_as_it_does) {
  const Outcome outcome = run({SP_PROGRAM, "top", "--", shell(), "-c",
                               "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); "
                               "done; echo out; exit 3"});
  EXPECT_EQ(outcome.exit_status(), 3) << outcome.text();
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_GE(count_of(outcome.err, "  self %  total %  function\n"), 1U) << outcome.err;
  const Outcome missing = run({SP_PROGRAM, "top", "--", "/nonexistent/program"});
  EXPECT_EQ(missing.exit_status(), 127);
  EXPECT_EQ(count_of(missing.err, "\n"), 1U) << missing.err;
}

TEST(Top, once_shows_one_table) {
  Running steady({target("steady"), "1", "0"});
  ASSERT_TRUE(steady.says("ready\n"));
  const Outcome outcome = run({SP_PROGRAM, "top", "--once", "-p", std::to_string(steady.pid())});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(count_of(outcome.out, "  self %  total %  function\n"), 1U) << outcome.out;
}

TEST(Top, counts_calls_exactly) {
  Running steady({target("steady"), "1", "0"});
  ASSERT_TRUE(steady.says("ready\n"));
  // Without a limit: on some CPUs counting so small a loop costs more than the budget.
  const Outcome outcome = run({SP_PROGRAM, "top", "--calls", "--overhead", "0", "-p",
                               std::to_string(steady.pid()), "-i", "500ms", "-d", "2500ms"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_NE(outcome.out.find("calls/s  function"), std::string::npos) << outcome.out;
  bool has_rate = false;
  for (std::size_t at = outcome.out.find(" add_up  "); at != std::string::npos;
       at = outcome.out.find(" add_up  ", at + 1)) {
    has_rate = has_rate || (outcome.out[at - 2] >= '0' && outcome.out[at - 2] <= '9');
  }
  EXPECT_TRUE(has_rate) << outcome.out;
  EXPECT_EQ(what_was_left_behind(steady.pid()), "");
  EXPECT_EQ(changed_text(steady.pid()), "");
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

/// superprofiler top on a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(pid_t target) {
    winsize size{};
    size.ws_row = 20;
    size.ws_col = 90;
    if (::openpty(&ours_, &theirs_, nullptr, nullptr, &size) != 0) {
      return;
    }
    ::tcgetattr(theirs_, &before_);
    const std::string pid = std::to_string(target);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setsid();
      ::ioctl(theirs_, TIOCSCTTY, 0);
      for (int fd = 0; fd < 3; ++fd) {
        ::dup2(theirs_, fd);
      }
      ::execl(SP_PROGRAM, SP_PROGRAM, "top", "-i", "100ms", "-p", pid.c_str(), nullptr);
      ::_exit(127);
    }
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(ours_);
    ::close(theirs_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool shows(const std::string& text) {
    return eventually([&] {
      read();
      return screen_.find(text) != std::string::npos;
    });
  }
  void press(char key) const { ASSERT_EQ(::write(ours_, &key, 1), 1); }
  /// The exit status, 128 + the signal that killed it, or -1.
  int wait() {
    int status = 0;
    const bool ended = eventually([&] {
      read();
      return ::waitpid(pid_, &status, WNOHANG) == pid_;
    });
    if (!ended) {
      return -1;
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Modes, screen and cursor.
  [[nodiscard]] bool is_as_before() {
    read();
    termios now{};
    ::tcgetattr(theirs_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
           now.c_oflag == before_.c_oflag && is_last("\x1b[?1049l", "\x1b[?1049h") &&
           is_last("\x1b[?25h", "\x1b[?25l");
  }
  [[nodiscard]] const std::string& screen() const { return screen_; }

 private:
  [[nodiscard]] bool is_last(const std::string& one, const std::string& other) const {
    const auto at = screen_.rfind(one);
    const auto before = screen_.rfind(other);
    return at != std::string::npos && before != std::string::npos && at > before;
  }
  void read() {
    pollfd ready{ours_, POLLIN, 0};
    std::array<char, 4096> buffer{};
    // On a slow machine there may always be more.
    for (int i = 0; i < 16 && ::poll(&ready, 1, 20) > 0 && (ready.revents & POLLIN) != 0; ++i) {
      const ssize_t got = ::read(ours_, buffer.data(), buffer.size());
      if (got <= 0) {
        return;
      }
      screen_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  int ours_ = -1;
  int theirs_ = -1;
  pid_t pid_ = -1;
  termios before_{};
  std::string screen_;
};

TEST(TopOnTerminal, puts_it_back_on_every_way_out) {
  for (const std::string way : {"q", "Ctrl-C", "SIGTERM", "SIGSEGV", "SIGKILL", "target"}) {
    Running steady({target("steady"), "1", "0"});
    ASSERT_TRUE(steady.says("ready\n"));
    OnTerminal top(steady.pid());
    ASSERT_TRUE(top.shows(" add_up  ")) << top.screen();
    EXPECT_FALSE(top.is_as_before()) << way;
    int expected = 0;
    if (way == "q") {
      top.press('q');
    } else if (way == "Ctrl-C") {
      top.press('\x03');
    } else if (way == "target") {
      steady.close_input();
    } else {
      const int signal = way == "SIGTERM" ? SIGTERM : way == "SIGSEGV" ? SIGSEGV : SIGKILL;
      expected = signal == SIGTERM ? 0 : 128 + signal;
      ::kill(top.pid(), signal);
    }
    const int status = top.wait();
    // AddressSanitizer reports the signal and exits.
    EXPECT_TRUE(status == expected || (way == "SIGSEGV" && status == 1)) << way << ": " << status;
    EXPECT_TRUE(eventually([&] { return top.is_as_before(); })) << way << "\n" << top.screen();
    EXPECT_TRUE(eventually([&] { return what_was_left_behind(steady.pid()).empty(); })) << way;
    steady.close_input();
    EXPECT_EQ(steady.wait().out, "ready\nright\n") << way;
  }
}

}  // namespace
}  // namespace sp::end_to_end
