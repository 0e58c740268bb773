#include "core/progress_line.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "core/log.h"

namespace sp::core {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> g_forbidden{false};
thread_local bool g_forbidden_here = false;

void write_to_terminal(std::string_view text) {
  // A line that cannot be written is no loss.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::size_t columns() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

/// All tasks of the process and the thread that shows the last of them.
class Tasks {
 public:
  std::string* begin(std::string text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(std::move(text));
    if (texts_.size() == 1) {
      begun_ = std::chrono::steady_clock::now();
      if (!thread_.joinable()) {
        is_over_ = false;
        thread_ = std::thread([this] { show(); });
      }
    }
    return &texts_.back();
  }

  void change(std::string* text, std::string to) {
    const std::lock_guard lock(mutex_);
    *text = std::move(to);
  }

  void hide() {
    if (is_shown_) {  // a forked child has the mutex as it was, but nothing is shown when we fork
      const std::lock_guard lock(mutex_);
      erase();
    }
  }

  void end(const std::string* text) {
    std::thread ended;
    {
      const std::lock_guard lock(mutex_);
      texts_.remove_if([text](const std::string& one) { return &one == text; });
      if (!texts_.empty()) {
        return;
      }
      is_over_ = true;
      ended = std::move(thread_);
    }
    changed_.notify_all();
    ended.join();
  }

 private:
  void erase() {
    if (is_shown_) {
      write_to_terminal("\r\x1b[2K");
      is_shown_ = false;
    }
  }

  void show() {
    ::pthread_setname_np(::pthread_self(), "sp-progress");
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, begun_ + 1s, [this] { return is_over_; });
    while (!is_over_) {
      if (!texts_.empty() && ::tcgetpgrp(STDERR_FILENO) == ::getpgrp()) {
        std::string line = std::string(kLogPrefix) + texts_.back() + " ...";
        line.resize(std::min(line.size(), columns() - 1));
        write_to_terminal("\r\x1b[2K" + line);
        is_shown_ = true;
      }
      changed_.wait_for(lock, 250ms, [this] { return is_over_; });
    }
    erase();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::string> texts_;
  std::chrono::steady_clock::time_point begun_;
  std::thread thread_;
  bool is_over_ = false;
  std::atomic<bool> is_shown_{false};
};

Tasks& tasks() {
  static Tasks all;
  return all;
}

}  // namespace

ProgressLine::ProgressLine(std::string text) {
  if (allowed()) {
    text_ = tasks().begin(std::move(text));
  }
}

ProgressLine::~ProgressLine() {
  if (text_ != nullptr) {
    tasks().end(text_);
  }
}

void ProgressLine::set(std::string text) {
  if (text_ != nullptr) {
    tasks().change(text_, std::move(text));
  }
}

void ProgressLine::hide() { tasks().hide(); }

void ProgressLine::forbid() { g_forbidden = true; }

void ProgressLine::forbid_on_this_thread() { g_forbidden_here = true; }

bool ProgressLine::allowed() {
  return !g_forbidden && !g_forbidden_here && log_level() != LogLevel::quiet &&
         ::isatty(STDERR_FILENO) == 1;
}

}  // namespace sp::core
