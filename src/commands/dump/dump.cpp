#include "commands/dump/dump.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "commands/dump/dump_text.h"
#include "commands/dump/named_dump.h"
#include "commands/session/session.h"
#include "core/channel.h"
#include "core/log.h"
#include "core/messages.h"
#include "profiler/describe.h"
#include "profiler/formats/json_writer.h"
#include "profiler/symbol_namer.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/supervisor.h"

namespace sp::dump {
namespace {

constexpr int kFailure = 125;
/// An event for each thread is sent while threads are stopped, so none may wait for room.
constexpr std::size_t kThreads = std::size_t{1} << 20U;
/// How long sleepers may take whose stacks need their registers.
constexpr core::Duration kPatience = std::chrono::seconds(2);

/// Owns the parts of one dump: the supervisor on the main thread, the analyzer, and a thread that
/// names what comes out of it.
class Dumping {
 public:
  /// `json`: null to write for people.
  Dumping(pid_t pid, const cli::DumpOptions& options, profiler::JsonWriter* json,
          supervisor::Guardian& guardian)
      : pid_(pid),
        json_(json),
        namer_({options.debug_dirs, true, symbols::DebugServer::of_environment({[this] {
                  return session_.supervisor().user_requests().interrupts.load();
                }}),
                true}),
        session_({supervisor_options(), {}, {kThreads, kThreads, kThreads}}, guardian) {}

  int run();
  /// By the user: the rest is not wanted either.
  [[nodiscard]] bool was_interrupted() const { return was_interrupted_; }

 private:
  [[nodiscard]] supervisor::SupervisorOptions supervisor_options();
  /// The body of the naming thread.
  void collect();
  void take(core::Record&& record);
  void end_run_once_complete();
  [[nodiscard]] int print();

  const pid_t pid_;
  profiler::JsonWriter* const json_;
  std::promise<supervisor::ThreadDump> dumped_;
  std::future<supervisor::ThreadDump> dump_ = dumped_.get_future();
  std::atomic<std::ptrdiff_t> expected_{-1};  // stacks; -1: not known yet
  profiler::SymbolNamer namer_;
  std::string command_;
  Stacks stacks_;
  Modules modules_;
  int status_ = kFailure;
  bool was_interrupted_ = false;
  session::Session session_;  // last: its threads use the others
};

supervisor::SupervisorOptions Dumping::supervisor_options() {
  supervisor::SupervisorOptions out;
  out.pids = {pid_};
  out.follow_forks = false;
  out.timer.sample = false;
  out.timer.follow_cpu = false;
  out.timer.duration = kPatience;
  out.on_dump = [this](supervisor::ThreadDump dump) {
    std::ptrdiff_t stacks = 0;
    for (const supervisor::DumpedThread& thread : dump.threads) {
      stacks += thread.has_stack ? 1 : 0;
    }
    dumped_.set_value(std::move(dump));
    expected_ = stacks;
  };
  return out;
}

void Dumping::take(core::Record&& record) {
  if (auto* const seen = std::get_if<core::ModuleSeen>(&record)) {
    namer_.add_module(seen->module);
    const core::ModuleId id = seen->module.id;
    modules_.insert_or_assign(id, std::move(seen->module));
  } else if (auto* const sample = std::get_if<core::SampleTaken>(&record)) {
    // Of a thread that was asleep at first, and stopped then, both may come, in any order.
    const auto [known, is_first] = stacks_.try_emplace(sample->thread, sample->stack);
    if (!is_first && !core::is_truncated(sample->stack.end)) {
      known->second = std::move(sample->stack);
    }
  }
}

void Dumping::end_run_once_complete() {
  if (expected_ >= 0 && stacks_.size() >= static_cast<std::size_t>(expected_) &&
      !session_.supervisor().user_requests().time_is_up) {
    session_.end();
  }
}

void Dumping::collect() {
  core::Channel<core::Record>& records = session_.records();
  while (!records.finished()) {
    if (auto record = records.pop_until(core::Clock::now() + std::chrono::milliseconds(2))) {
      take(std::move(*record));
    }
    end_run_once_complete();
  }
  status_ = print();
}

int Dumping::print() {
  const supervisor::UserRequests& requests = session_.supervisor().user_requests();
  if (requests.interrupts > 0 || requests.terminate) {
    core::print_error("interrupted");
    was_interrupted_ = true;
    return 128 + (requests.interrupts > 0 ? SIGINT : SIGTERM);
  }
  namer_.ask_server();
  NamedDump dump = name_dump(dump_.get(), stacks_, modules_, namer_);
  dump.pid = pid_;
  dump.command = command_;
  if (stacks_.empty()) {
    const auto stat = supervisor::read_stat(pid_);
    if (stat && stat->state != 'Z' && stat->state != 'X') {
      core::log_error("no stack of process {} could be copied in time; try again", pid_);
    } else {
      core::log_error("process {} ended before its stacks could be read", pid_);
    }
    return kFailure;
  }
  ::signal(SIGPIPE, SIG_DFL);  // a reader that has seen enough is no error
  json_ != nullptr ? write_json(*json_, dump) : write_text(std::cout, dump);
  std::cout.flush();
  if (!std::cout) {
    core::print_error("writing to stdout failed");
    return kFailure;
  }
  core::print_note(cost_text(dump));
  return 0;
}

int Dumping::run() {
  supervisor::Supervisor& supervisor = session_.supervisor();
  if (const auto prepared = supervisor.prepare(); !prepared) {
    core::print_error(prepared.error().message);
    return prepared.error().status;
  }
  command_ = profiler::command_text(supervisor::read_command_line(pid_));
  session_.start("sp-names", [this] { collect(); });
  session_.run();
  // Threads that sleep are let go when we end; until then they are served.
  if (!session_.serve([&] { return supervisor.user_requests().interrupts > 1; })) {
    core::print_error("interrupted");
    ::_exit(128 + SIGINT);
  }
  return status_;
}

}  // namespace

int run(const cli::DumpOptions& options) {
  auto guardian = session::begin_tracing();
  if (!guardian) {
    return kFailure;
  }
  std::optional<profiler::JsonWriter> json;
  if (options.json) {
    json.emplace(std::cout);
  }
  const bool are_several = options.pids.size() > 1;
  if (json && are_several) {
    json->begin_array();
  }
  int status = 0;
  for (const pid_t pid : options.pids) {
    Dumping dumping(pid, options, json ? &*json : nullptr, *guardian);
    const int failed = dumping.run();
    status = status == 0 ? failed : status;
    if (dumping.was_interrupted()) {
      break;
    }
  }
  if (json && are_several) {
    json->end_array();
  }
  return status;
}

}  // namespace sp::dump
