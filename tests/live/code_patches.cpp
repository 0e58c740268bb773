// Jumps from a running program's functions to copies of them, which come and go, and SIGKILL of the
// process that writes them.
#include "supervisor/copies/code_patches.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "arch/native.h"
#include "core/mapping.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr bool kIsX86 = Native::kBreakpoint.size() == 1;
constexpr std::size_t kJump = kIsX86 ? 5 : 4;
constexpr std::size_t kLongestFunction = 24;
constexpr std::size_t kCallers = 4;  // threads of the program that call functions

/// A function of the program, and its copy.
struct Pair {
  std::uint64_t original = 0;
  std::uint64_t copy = 0;
};

CodeChange jump_between(const TargetMemory& memory, std::uint64_t from, std::uint64_t to) {
  CodeChange change{Address{from}, kJump, {}, {}};
  EXPECT_EQ(memory.read(change.address, std::span(change.from).first(kJump)), kJump);
  const auto distance = static_cast<std::int64_t>(to - from);
  if (kIsX86) {
    const auto displacement = static_cast<std::int32_t>(distance - 5);
    change.to[0] = std::byte{0xE9};
    std::memcpy(change.to.data() + 1, &displacement, sizeof displacement);
  } else {
    const std::uint32_t branch =
        0x14000000U | (static_cast<std::uint32_t>(distance / 4) & 0x03FFFFFFU);
    std::memcpy(change.to.data(), &branch, sizeof branch);
  }
  return change;
}

template <typename Condition>
bool eventually(const Condition& condition) {
  constexpr int kTries = 6000;
  for (int i = 0; i < kTries; ++i) {
    if (condition()) {
      return true;
    }
    ::usleep(5000);
  }
  return false;
}

/// tests/targets/jumped_over.c
class Program {
 public:
  explicit Program(const std::string& kind) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC) + ::pipe2(out.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl(SP_TARGETS_DIR "/jumped_over", "jumped_over", kind.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
    std::uint64_t list = 0;
    const std::string line = read_some();
    EXPECT_EQ(std::sscanf(line.c_str(), "ready %lx %lx", &list, &progress_), 2) << line;
    memory_.emplace(pid_);
    for (Pair pair;; list += sizeof pair) {
      EXPECT_EQ(memory_->read(Address{list}, std::as_writable_bytes(std::span(&pair, 1))),
                sizeof pair);
      if (pair.original == 0) {
        break;
      }
      pairs_.push_back(pair);
    }
    for (const Pair& pair : pairs_) {
      jumps_.push_back(jump_between(*memory_, pair.original, pair.copy));
      exits_.push_back(jump_between(*memory_, pair.copy, pair.original));
      text_.end = std::max(text_.end, Address{pair.copy + kLongestFunction});
    }
    text_.begin = Address{pairs_.front().original};
    sort_changes(jumps_);
    sort_changes(exits_);
    for (const Pair& pair : pairs_) {
      text_.begin = std::min(text_.begin, Address{pair.original});
    }
    before_ = text();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(out_);
    if (in_ >= 0) {
      ::close(in_);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const TargetMemory& memory() const { return *memory_; }
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  [[nodiscard]] const std::vector<CodeChange>& jumps() const { return jumps_; }
  [[nodiscard]] const std::vector<CodeChange>& exits() const { return exits_; }
  [[nodiscard]] std::vector<pid_t> threads() const {
    auto all = list_threads(pid_).value_or(std::vector<pid_t>{});
    std::erase(all, pid_);  // sleeps
    return all;
  }

  /// The text, with the copies as they were at the beginning.
  [[nodiscard]] std::vector<std::byte> text() const {
    std::vector<std::byte> bytes(text_.size());
    EXPECT_EQ(memory_->read(text_.begin, bytes), bytes.size());
    for (const CodeChange& exit : exits_) {
      std::copy_n(exit.from.begin(), kJump,
                  bytes.begin() + static_cast<std::ptrdiff_t>(exit.address - text_.begin));
    }
    return bytes;
  }
  [[nodiscard]] bool is_original() const { return text() == before_; }
  [[nodiscard]] std::size_t open_exits() const {
    const auto found = read_changes(memory_->fd(), exits_);
    return static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(),
                      [](const FoundBytes& one) { return one.there == one.change.to; }));
  }
  [[nodiscard]] bool has_open_exits() const { return open_exits() == exits_.size(); }
  [[nodiscard]] bool is_in_copy(Address pc) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
      return pc >= Address{pair.copy} && pc < Address{pair.copy + kLongestFunction};
    });
  }
  /// Every thread that calls functions goes on.
  [[nodiscard]] bool proceeds() const {
    const auto before = progress();
    return eventually([&] {
      const auto now = progress();
      return std::equal(now.begin(), now.end(), before.begin(), std::greater<>());
    });
  }
  std::string end() {
    ::close(in_);
    in_ = -1;
    return read_some();
  }

 private:
  [[nodiscard]] std::array<std::uint64_t, kCallers> progress() const {
    std::array<std::uint64_t, kCallers> counts{};
    EXPECT_EQ(memory_->read(Address{progress_}, std::as_writable_bytes(std::span(counts))),
              sizeof counts);
    return counts;
  }
  [[nodiscard]] std::string read_some() const {
    constexpr int kPatience = 60'000;  // ms
    std::string text(256, '\0');
    pollfd ready{out_, POLLIN, 0};
    const ssize_t got =
        ::poll(&ready, 1, kPatience) == 1 ? ::read(out_, text.data(), text.size()) : 0;
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::uint64_t progress_ = 0;
  std::optional<TargetMemory> memory_;
  std::vector<Pair> pairs_;
  std::vector<CodeChange> jumps_;
  std::vector<CodeChange> exits_;
  core::AddressRange text_;
  std::vector<std::byte> before_;
};

/// Runs in a process of its own, which stands for superprofiler. Its functions are false where
/// something went wrong.
class Patcher {
 public:
  explicit Patcher(const Program& program)
      : program_(program), threads_(program.threads()), guardian_(start_guardian()) {}

  bool begin() {
    ptrace::bind_to_this_thread();
    for (const pid_t tid : threads_) {
      if (!ptrace::seize(tid, {.forks = false})) {
        return false;
      }
    }
    return guardian_ && stop() && prepare() && resume();
  }
  bool stop() {
    return std::all_of(threads_.begin(), threads_.end(),
                       [](pid_t tid) { return ptrace::interrupt(tid).has_value(); }) &&
           std::all_of(threads_.begin(), threads_.end(), await_stop);
  }
  bool resume() {
    return std::all_of(threads_.begin(), threads_.end(),
                       [](pid_t tid) { return ptrace::resume(tid, 0).has_value(); });
  }
  /// All threads are stopped, so none wakes.
  static bool nobody_woke() { return true; }
  bool apply() { return patches_->apply(program_.jumps(), nobody_woke).has_value(); }
  bool remove() {
    return patches_->remove_all(nobody_woke) &&
           std::all_of(threads_.begin(), threads_.end(),
                       [this](pid_t tid) { return leave_copy(tid); });
  }
  /// Whether a thread is in a copy.
  bool uses_copies() {
    return std::any_of(threads_.begin(), threads_.end(), [this](pid_t tid) {
      const auto registers = ptrace::registers(tid);
      return registers && program_.is_in_copy(Native::pc(*registers));
    });
  }
  bool uses_copy_of_loop() {
    const Address copy{program_.pairs().front().copy};
    return std::any_of(threads_.begin(), threads_.end(), [&](pid_t tid) {
      const auto registers = ptrace::registers(tid);
      return registers && Native::pc(*registers) >= copy &&
             Native::pc(*registers) < copy + kLongestFunction;
    });
  }
  CodePatches& patches() { return *patches_; }
  BreakpointTable& code() { return *code_; }

 private:
  static std::optional<Guardian> start_guardian() {
    auto guardian = Guardian::start();
    return guardian ? std::optional<Guardian>(std::move(*guardian)) : std::nullopt;
  }
  bool prepare() {
    const pid_t tid = threads_.front();
    code_.emplace(core::ProcessId{program_.pid(), 0}, tid, true, *guardian_);
    code_->set_maps(
        core::parse_maps(read_proc(fmt::format("/proc/{}/maps", program_.pid())).value_or("")));
    install_trap_handler(*code_, tid);
    patches_.emplace(*code_, *guardian_);
    for (const CodeChange& exit : program_.exits()) {  // a killed one may have left them open
      if (!code_->memory().write(exit.address, std::span(exit.from).first(kJump))) {
        return false;
      }
    }
    return code_->trap_handler().is_installed && patches_->add_exits(program_.exits());
  }
  static bool await_stop(pid_t tid) {
    for (;;) {
      const auto report = ptrace::wait_for(tid);
      const auto stop = report ? parse_wait_status(report->status) : WaitStatus{NotAStop{}};
      const auto* const delivery = std::get_if<SignalDelivery>(&stop);
      if (delivery == nullptr) {
        return std::holds_alternative<InterruptStop>(stop);
      }
      if (!ptrace::resume(tid, delivery->signal)) {
        return false;
      }
    }
  }
  /// Copies are laid out as the originals are.
  bool leave_copy(pid_t tid) {
    auto registers = ptrace::registers(tid);
    if (!registers) {
      return false;
    }
    const Address pc = Native::pc(*registers);
    for (const Pair& pair : program_.pairs()) {
      if (pc >= Address{pair.copy} && pc < Address{pair.copy + kLongestFunction}) {
        Native::set_pc(*registers, Address{pair.original} + (pc - Address{pair.copy}));
        return ptrace::set_registers(tid, *registers).has_value();
      }
    }
    return true;
  }

  const Program& program_;
  std::vector<pid_t> threads_;
  std::optional<Guardian> guardian_;
  std::optional<BreakpointTable> code_;
  std::optional<CodePatches> patches_;
};

/// Forks a process that runs `work(Patcher&)`, and gives its exit status: 0 if that returns true.
template <typename Work>
int in_own_process(const Program& program, const Work& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    Patcher patcher(program);
    ::_exit(patcher.begin() && work(patcher) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

class CodePatching : public ::testing::TestWithParam<std::string> {};

TEST_P(CodePatching, sends_running_threads_to_copies_and_back) {
  Program program(GetParam());
  const int status = in_own_process(program, [&](Patcher& patcher) {
    bool is_right = true;
    bool used = false;
    constexpr int kRounds = 300;
    for (int round = 0; round < kRounds && is_right; ++round) {
      is_right = patcher.stop() && patcher.apply() && patcher.resume() && patcher.stop();
      used = used || patcher.uses_copies();
      is_right = is_right && patcher.remove() && program.is_original() && patcher.resume();
    }
    return is_right && used;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(program.is_original());
  EXPECT_TRUE(program.proceeds());
  EXPECT_EQ(program.end(), "right\n");
}

TEST_P(CodePatching, shows_the_original_to_readers_and_keeps_breakpoints_away) {
  Program program(GetParam());
  const int status = in_own_process(program, [&](Patcher& patcher) {
    bool is_right = patcher.stop() && patcher.apply();
    for (const CodeChange& jump : program.jumps()) {
      std::array<std::byte, CodeChange::kLongest> bytes{};
      is_right = is_right && patcher.patches().is_patched(jump.address) &&
                 patcher.code().fetch(jump.address, std::span(bytes).first(kJump)) == kJump &&
                 bytes == jump.from && patcher.code().jumps().overlap(jump.address + 3, 1);
    }
    // The same again is refused; what is there stays.
    is_right = is_right && !patcher.apply() && patcher.patches().size() == program.jumps().size();
    // A child's memory is the same.
    is_right = is_right && patcher.patches().restore_child(patcher.code().memory()) &&
               program.is_original();
    return patcher.remove() && patcher.resume() && is_right;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(program.end(), "right\n");
}

TEST_P(CodePatching, is_undone_where_a_thread_cannot_be_stopped) {
  Program program(GetParam());
  const int status = in_own_process(program, [&](Patcher& patcher) {
    bool is_right = patcher.stop();
    for (int give_up_at = 1; give_up_at <= 2; ++give_up_at) {
      int looks = 0;
      const auto look = [&] { return ++looks != give_up_at; };
      is_right = is_right && !patcher.patches().apply(program.jumps(), look) &&
                 program.is_original() && patcher.patches().size() == 0;
      looks = -1000;
      is_right = is_right && patcher.patches().apply(program.jumps(), look).has_value();
      looks = 0;
      is_right = is_right && !patcher.patches().remove_all(look) && !program.is_original() &&
                 patcher.remove() && program.is_original();
    }
    return is_right && patcher.resume();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(program.end(), "right\n");
}

TEST_P(CodePatching, opens_the_ways_out_of_copies_while_threads_run) {
  Program program(GetParam());
  const int status = in_own_process(program, [&](Patcher& patcher) {
    // On an only CPU a thread would often be stopped before it has executed anything.
    const auto turns_in_copy = [&] {
      return patcher.resume() && program.proceeds() && patcher.stop() &&
             patcher.uses_copy_of_loop();
    };
    const bool was_used = patcher.stop() && patcher.apply() && eventually(turns_in_copy);
    const bool is_original = patcher.patches().remove_all(Patcher::nobody_woke).has_value();
    // The other threads have left copies when they have gone on.
    if (!was_used || !is_original || !turns_in_copy() || !patcher.resume() || !program.proceeds()) {
      return false;
    }
    patcher.patches().open_exits();
    // An interrupt is reported before the trap of who was held: the second stop serves that.
    return program.has_open_exits() && patcher.stop() && patcher.resume() && patcher.stop() &&
           eventually([&] { return !turns_in_copy() && !patcher.uses_copies(); }) &&
           patcher.resume();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(program.end(), "right\n");
}

TEST_P(CodePatching, leaves_alone_what_is_written_over_a_copy) {
  Program program(GetParam());
  const CodeChange& used_anew = program.exits()[1];
  const int status = in_own_process(program, [&](Patcher& patcher) {  // ends as if it was killed
    patcher.patches().remove_exits({used_anew.address, used_anew.address + 1});
    return true;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(eventually([&] { return program.open_exits() + 1 == program.exits().size(); }));
  const auto found = read_changes(program.memory().fd(), {&used_anew, 1});
  EXPECT_EQ(found.at(0).there, used_anew.from);
  EXPECT_EQ(program.end(), "right\n");
}

bool no_thread_is_in_a_copy(const Program& program) {
  const pid_t pid = ::fork();  // ptrace binds a process to one thread, and its children with it
  if (pid == 0) {
    ptrace::bind_to_this_thread();
    const auto threads = program.threads();
    const bool is_none = std::all_of(threads.begin(), threads.end(), [&](pid_t tid) {
      if (!ptrace::seize(tid, {.forks = false}) || !ptrace::interrupt(tid) ||
          !ptrace::wait_for(tid)) {
        return false;
      }
      const auto registers = ptrace::registers(tid);
      return registers && !program.is_in_copy(Native::pc(*registers));
    });
    ::_exit(is_none ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status == 0;
}

TEST_P(CodePatching, leaves_the_original_when_killed) {
  Program program(GetParam());
  std::minstd_rand random(7);
  constexpr int kRounds = 40;
  int patched = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    std::array<int, 2> begun{};
    ASSERT_EQ(::pipe2(begun.data(), O_CLOEXEC), 0);
    const unsigned seed = static_cast<unsigned>(random());
    const pid_t pid = ::fork();
    if (pid == 0) {
      Patcher patcher(program);
      bool is_right = patcher.begin();
      [[maybe_unused]] const ssize_t told = ::write(begun[1], "x", is_right ? 1 : 0);
      std::minstd_rand pause(seed);
      while (is_right) {
        is_right = patcher.stop() && patcher.apply() && patcher.resume();
        ::usleep(static_cast<useconds_t>(pause() % 300));  // let it run
        is_right = is_right && patcher.stop() && patcher.remove() && patcher.resume();
      }
      ::_exit(1);
    }
    ::close(begun[1]);
    char byte = 0;
    ASSERT_EQ(::read(begun[0], &byte, 1), 1) << "round " << round;
    ::close(begun[0]);
    ::usleep(static_cast<useconds_t>(random() % 20'000));  // a random moment
    ::kill(pid, SIGKILL);
    int status = -1;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round;
    patched += program.is_original() ? 0 : 1;
    ASSERT_TRUE(eventually([&] { return program.is_original() && program.has_open_exits(); }))
        << "round " << round;
    ASSERT_TRUE(program.proceeds()) << "round " << round;
    ASSERT_TRUE(eventually([&] { return no_thread_is_in_a_copy(program); })) << "round " << round;
  }
  std::cout << "jumps were there after " << patched << " of " << kRounds << " kills\n";
  if (std::getenv("SP_TEST_PATIENCE") == nullptr) {  // on the only CPU the guardian is always first
    EXPECT_GT(patched, 0);
  }
  EXPECT_EQ(program.end(), "right\n");
}

INSTANTIATE_TEST_SUITE_P(Of, CodePatching, ::testing::Values("ordinary", "blocked", "forks"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace sp::supervisor
