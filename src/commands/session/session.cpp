#include "commands/session/session.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "analyzer/analyzer.h"
#include "commands/session/stack_source.h"
#include "core/log.h"
#include "core/progress_line.h"
#include "supervisor/channels/control_signals.h"
#include "supervisor/linux/helper_threads.h"
#include "supervisor/linux/open_files.h"

namespace sp::session {
namespace {

pid_t own_tid() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace

Session::Session(SessionOptions options, supervisor::Guardian& guardian)
    : events_(options.queues.events),
      records_(options.queues.records),
      requests_(options.queues.requests),
      policy_(std::move(options.policy)),
      supervisor_(std::move(options.supervisor), guardian, events_, requests_) {}

void Session::start(const char* name, std::function<void()> consume) {
  std::promise<pid_t> consumer_tid;
  std::promise<pid_t> analyzer_tid;
  std::future<pid_t> consumer = consumer_tid.get_future();
  std::future<pid_t> analyzer = analyzer_tid.get_future();
  consumer_ = std::jthread(
      [tid = std::move(consumer_tid), name, consume = std::move(consume), this]() mutable {
        ::prctl(PR_SET_NAME, name);
        tid.set_value(own_tid());
        consume();
        consumed_ = true;
        supervisor_.wakeup().send();
      });
  analyzer_ = std::jthread([tid = std::move(analyzer_tid), this]() mutable { analyze(tid); });
  const std::vector<pid_t> helpers = {consumer.get(), analyzer.get()};
  timer_ = std::jthread([this, main = own_tid(), helpers](const std::stop_token& stop) {
    supervisor_.timer().run(stop, main, helpers);
  });
}

void Session::analyze(std::promise<pid_t>& tid) {
  ::prctl(PR_SET_NAME, "sp-analyzer");
  tid.set_value(own_tid());
  analyzer::Analyzer analyzer(
      make_stack_source(), events_, records_, requests_,
      [this] {
        supervisor_.user_requests().requests = true;
        supervisor_.wakeup().send();
      },
      std::move(policy_));
  analyzer.run();
}

void Session::run() {
  supervisor_.begin();
  supervisor_.run();
}

bool Session::serve(const std::function<bool()>& gives_up) {
  supervisor_.serve([&] { return consumed_ || gives_up(); });
  return consumed_;
}

void Session::end() {
  supervisor_.user_requests().time_is_up = true;
  supervisor_.wakeup().send();
}

void Session::request(core::Request request) {
  if (requests_.try_push(std::move(request))) {
    supervisor_.user_requests().requests = true;
    supervisor_.wakeup().send();
  }
}

void run_beside(const std::function<void()>& work) {
  constexpr int kNice = 10;
  ::prctl(PR_SET_NAME, "sp-symbols");
  const supervisor::HelperThreads::Membership helper(supervisor::HelperThreads::of_process());
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(own_tid()), ::getpriority(PRIO_PROCESS, 0) + kNice);
  work();
}

std::optional<supervisor::Guardian> begin_tracing() {
  core::ProgressLine::forbid_on_this_thread();
  supervisor::block_control_signals();
  if (const auto raised = supervisor::raise_open_files_limit(); !raised) {
    core::print_error(raised.error().message());
    return std::nullopt;
  }
  auto guardian = supervisor::Guardian::start();
  if (!guardian) {
    core::print_error(guardian.error().message());
    return std::nullopt;
  }
  return std::move(*guardian);
}

}  // namespace sp::session
