// What all instruments share, on a traced child that computes in a loop.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/displaced_step.h"
#include "supervisor/instruments/fork_origins.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr std::uint64_t kTrap = signal_bit(SIGTRAP);

/// What the child computes and how often, in memory that it shares with the test.
struct Shared {
  volatile std::uint64_t rounds = 0;
  volatile std::uint64_t sum = 0;
  volatile bool blocks_trap = false;
};

std::uint64_t g_old_mask = 0;
std::uint64_t g_new_mask = 0;

/// Begins with a push where frames begin with one.
[[gnu::noinline, gnu::noipa]] std::uint64_t add_three(std::uint64_t value) {
  const void* volatile frame = __builtin_frame_address(0);
  (void)frame;
  return value + 3;
}

class TestCode final : public InstrumentedCode {
 public:
  using InstrumentedCode::InstrumentedCode;
  BreakpointSite& site(Address at) { return site_of(*decode(at)); }
};

class Instruments : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const at =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    shared_ = new (at) Shared;
    auto guardian = Guardian::start();
    ASSERT_TRUE(guardian);
    guardian_.emplace(std::move(*guardian));
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) {
        shared_->sum = add_three(shared_->sum);
        shared_->rounds = shared_->rounds + 1;
      }
    }
    // Until then it is in fork(), where a sanitizer starts a thread of its own.
    while (shared_->rounds == 0) {
      ::usleep(100);
    }
    ptrace::bind_to_this_thread();
    ASSERT_TRUE(ptrace::seize(child_, {}));
    stop();
    code_ = std::make_shared<TestCode>(core::ProcessId{child_, 1}, child_, true, *guardian_);
    const auto maps = read_proc("/proc/" + std::to_string(child_) + "/maps");
    ASSERT_TRUE(maps);
    code_->set_maps(core::parse_maps(*maps));
    install_trap_handler(*code_, child_);
    ASSERT_TRUE(code_->trap_handler().is_installed);
    tracee_.id = {child_, 1};
    tracee_.process = std::make_shared<TracedProcess>();
    tracee_.process->id = {child_, 1};
    tracee_.process->code_state = code_;
  }

  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  void stop() {
    ASSERT_TRUE(ptrace::interrupt(child_));
    ASSERT_TRUE(std::holds_alternative<InterruptStop>(next_stop()));
  }
  WaitStatus next_stop() {
    const auto report = ptrace::wait_for(child_);
    return report ? parse_wait_status(report->status) : WaitStatus{NotAStop{}};
  }
  int next_signal() {
    const WaitStatus status = next_stop();
    const auto* delivery = std::get_if<SignalDelivery>(&status);
    return delivery != nullptr ? delivery->signal : 0;
  }
  /// Runs the child into the breakpoint on add_three, which is inserted.
  Trap run_into_breakpoint() {
    EXPECT_TRUE(ptrace::resume(child_, 0));
    EXPECT_EQ(next_signal(), SIGTRAP);
    return trap_origin(*code_, child_, *ptrace::registers(child_));
  }
  /// Lets the child run for some rounds, and stops it: it computes right.
  void computes_right() {
    const std::uint64_t before = shared_->rounds;
    ASSERT_TRUE(ptrace::resume(child_, 0));
    while (shared_->rounds < before + 1000) {
      ::usleep(100);
    }
    stop();
    const std::uint64_t sum = shared_->sum;
    const std::uint64_t expected = 3 * shared_->rounds;
    EXPECT_TRUE(sum == expected || sum == expected + 3) << sum << " after " << shared_->rounds;
  }

  const Address entry_{reinterpret_cast<std::uint64_t>(&add_three)};  // NOLINT
  Shared* shared_ = nullptr;
  std::optional<Guardian> guardian_;
  pid_t child_ = 0;
  std::shared_ptr<TestCode> code_;
  Tracee tracee_;
};

TEST_F(Instruments, trap_of_an_inserted_breakpoint_is_ours) {
  BreakpointSite& site = code_->site(entry_);
  ASSERT_TRUE(code_->insert(site));
  const Trap trap = run_into_breakpoint();
  EXPECT_EQ(trap.origin, TrapOrigin::breakpoint);
  EXPECT_EQ(trap.site, &site);
}

TEST_F(Instruments, trap_of_a_breakpoint_removed_meanwhile_puts_the_thread_back) {
  BreakpointSite& site = code_->site(entry_);
  ASSERT_TRUE(code_->insert(site));
  ASSERT_TRUE(ptrace::resume(child_, 0));
  ASSERT_EQ(next_signal(), SIGTRAP);
  code_->restore_all();
  EXPECT_EQ(trap_origin(*code_, child_, *ptrace::registers(child_)).origin,
            TrapOrigin::removed_breakpoint);
  EXPECT_EQ(Native::pc(*ptrace::registers(child_)), entry_);
  computes_right();
}

TEST_F(Instruments, trap_that_the_target_sends_itself_is_its_own) {
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  code_->restore_all();
  ::syscall(SYS_tgkill, child_, child_, SIGTRAP);
  ASSERT_TRUE(ptrace::resume(child_, 0));
  ASSERT_EQ(next_signal(), SIGTRAP);
  EXPECT_EQ(trap_origin(*code_, child_, *ptrace::registers(child_)).origin, TrapOrigin::target);
  EXPECT_FALSE(retire_trap(*code_, child_));
}

TEST_F(Instruments, retired_trap_puts_the_thread_back) {
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  ASSERT_TRUE(ptrace::resume(child_, 0));
  ASSERT_EQ(next_signal(), SIGTRAP);
  code_->restore_all();
  EXPECT_TRUE(retire_trap(*code_, child_));
  EXPECT_EQ(Native::pc(*ptrace::registers(child_)), entry_);
  computes_right();
}

TEST_F(Instruments,
       instruction_that_was_executed_for_a_thread_is_not_executed_again_once_we_are_gone) {
  BreakpointSite& site = code_->site(entry_);
  ASSERT_TRUE(code_->insert(site));
  ASSERT_EQ(run_into_breakpoint().origin, TrapOrigin::breakpoint);
  auto registers = *ptrace::registers(child_);
  mark_trap(child_, registers);
  Native::set_pc(registers, entry_);
  ThreadMemory memory(child_);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    GTEST_SKIP() << "the function begins with an instruction that is never executed for a thread";
  }
  ASSERT_TRUE(ptrace::set_registers(child_, registers));
  // As the kernel does it in our exit. The injected handler restores the code, after many tries.
  const std::uint64_t before = shared_->rounds;
  ASSERT_TRUE(ptrace::detach(child_, SIGTRAP));
  while (shared_->rounds < before + 1000 && ::kill(child_, 0) == 0 &&
         ::waitpid(child_, nullptr, WNOHANG) == 0) {
    ::usleep(1000);
  }
  EXPECT_GE(shared_->rounds, before + 1000);
}

class DisplacedSteps : public Instruments {
 protected:
  /// The child stands at its breakpoint; begins a displaced step of the instruction under it.
  void begin(std::optional<Address> copy) {
    auto registers = *ptrace::registers(child_);
    Native::set_pc(registers, entry_);
    step_.begin(*code_, code_->site(entry_), copy, child_, registers);
  }
  void step_until_out() {
    do {
      ASSERT_TRUE(ptrace::step(child_, 0));
      ASSERT_EQ(next_signal(), SIGTRAP);
    } while (step_.is_in_copy(*code_, Native::pc(*ptrace::registers(child_))));
  }
  DisplacedStep step_;
};

TEST_F(DisplacedSteps, execute_a_copy_with_the_breakpoint_inserted) {
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(run_into_breakpoint().origin, TrapOrigin::breakpoint);
    const auto copy = code_->copy_of(code_->site(entry_), child_);
    ASSERT_TRUE(copy);
    begin(copy);
    EXPECT_TRUE(code_->site(entry_).inserted);
    step_until_out();
    EXPECT_EQ(step_.finish(*code_), entry_);
    EXPECT_FALSE(step_.is_active());
  }
  code_->restore_all();
  computes_right();
}

TEST_F(DisplacedSteps, remove_the_breakpoint_for_the_moment_where_there_is_no_copy) {
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(run_into_breakpoint().origin, TrapOrigin::breakpoint);
    begin(std::nullopt);
    EXPECT_FALSE(code_->site(entry_).inserted);
    step_until_out();
    (void)step_.finish(*code_);
    EXPECT_TRUE(code_->site(entry_).inserted);
  }
  code_->restore_all();
  computes_right();
}

TEST_F(DisplacedSteps, are_cancelled_as_if_never_begun) {
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  ASSERT_EQ(run_into_breakpoint().origin, TrapOrigin::breakpoint);
  begin(code_->copy_of(code_->site(entry_), child_));
  EXPECT_NE(Native::pc(*ptrace::registers(child_)), entry_);
  step_.cancel(*code_, child_);
  EXPECT_EQ(Native::pc(*ptrace::registers(child_)), entry_);
  EXPECT_EQ(run_into_breakpoint().origin, TrapOrigin::breakpoint);  // once more
}

TEST_F(DisplacedSteps, leave_a_copy_that_a_thread_runs_through_freely) {
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  ASSERT_EQ(run_into_breakpoint().origin, TrapOrigin::breakpoint);
  EXPECT_FALSE(leave_copy(*code_, child_));
  begin(code_->copy_of(code_->site(entry_), child_));
  const auto left = leave_copy(*code_, child_);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->site, entry_);
  EXPECT_FALSE(left->executed);
  EXPECT_EQ(Native::pc(*ptrace::registers(child_)), entry_);
}

class SigtrapMasks : public Instruments {
 protected:
  void block_trap() {
    ASSERT_TRUE(ptrace::set_signal_mask(child_, *ptrace::signal_mask(child_) | kTrap));
  }
  bool is_blocked() { return (*ptrace::signal_mask(child_) & kTrap) != 0; }
};

TEST_F(SigtrapMasks, unblock_sigtrap_and_give_it_back) {
  for (const MaskChanges changes : {MaskChanges::seen, MaskChanges::unseen}) {
    SigtrapMask mask(changes);
    block_trap();
    EXPECT_TRUE(mask.unblock(child_));
    EXPECT_FALSE(is_blocked());
    EXPECT_TRUE(mask.blocks_trap());
    mask.give_back(child_);
    EXPECT_TRUE(is_blocked());
  }
}

TEST_F(SigtrapMasks, leave_a_mask_alone_that_was_set_by_the_program_since) {
  SigtrapMask mask(MaskChanges::unseen);
  block_trap();
  EXPECT_TRUE(mask.unblock(child_));
  ASSERT_TRUE(ptrace::set_signal_mask(child_, signal_bit(SIGUSR1)));
  mask.give_back(child_);
  EXPECT_EQ(*ptrace::signal_mask(child_), signal_bit(SIGUSR1));
}

TEST_F(SigtrapMasks, hold_a_sigtrap_until_the_program_unblocks_it) {
  SigtrapMask mask(MaskChanges::seen);
  block_trap();
  EXPECT_TRUE(mask.unblock(child_));
  ::syscall(SYS_tgkill, child_, child_, SIGTRAP);
  ASSERT_TRUE(ptrace::resume(child_, 0));
  ASSERT_EQ(next_signal(), SIGTRAP);
  EXPECT_FALSE(mask.may_deliver(child_));
  EXPECT_FALSE(mask.unblock(child_));  // the mask does not block it any more
  EXPECT_FALSE(mask.blocks_trap());
  ASSERT_TRUE(ptrace::resume(child_, 0));
  EXPECT_EQ(next_signal(), SIGTRAP);
  EXPECT_TRUE(mask.may_deliver(child_));
}

TEST_F(SigtrapMasks, change_as_sigprocmask_does_without_ever_blocking_sigtrap) {
  SigtrapMask mask(MaskChanges::seen);
  const TargetMemory memory(child_);
  const std::uint64_t wanted = kTrap | signal_bit(SIGUSR1);
  const Address set{reinterpret_cast<std::uint64_t>(&g_new_mask)};  // NOLINT
  const Address old{reinterpret_cast<std::uint64_t>(&g_old_mask)};  // NOLINT
  ASSERT_TRUE(memory.write(set, std::as_bytes(std::span(&wanted, 1))));
  const auto change = [&](std::uint64_t how) {
    return mask.change(child_, {SYS_rt_sigprocmask, {how, set.value(), old.value(), 8, 0, 0}});
  };
  ASSERT_TRUE(change(SIG_BLOCK));
  EXPECT_TRUE(mask.blocks_trap());
  EXPECT_FALSE(is_blocked());
  ASSERT_TRUE(change(SIG_UNBLOCK));
  std::uint64_t seen = 0;
  ASSERT_EQ(memory.read(old, std::as_writable_bytes(std::span(&seen, 1))), sizeof seen);
  EXPECT_EQ(seen & wanted, wanted) << "the program sees that it blocked SIGTRAP";
  EXPECT_FALSE(mask.blocks_trap());
  EXPECT_FALSE(mask.change(child_, {SYS_getpid, {}}));
}

TEST_F(Instruments, leave_nothing_in_a_process_that_is_detached) {
  SigtrapMask mask(MaskChanges::seen);
  ASSERT_TRUE(ptrace::set_signal_mask(child_, *ptrace::signal_mask(child_) | kTrap));
  ASSERT_TRUE(mask.unblock(child_));
  ASSERT_TRUE(code_->insert(code_->site(entry_)));
  ASSERT_TRUE(code_->copy_of(code_->site(entry_), child_));
  EXPECT_TRUE(has_memory_of_ours(*tracee_.process));
  code_->restore_all();
  ASSERT_TRUE(prepare_to_detach(*code_, tracee_, mask, {.was_stepped = false, .may_call = true}));
  EXPECT_FALSE(has_memory_of_ours(*tracee_.process));
  EXPECT_TRUE(code_->xol().empty());
  EXPECT_NE(*ptrace::signal_mask(child_) & kTrap, 0U);
  const auto masks = read_signal_masks(child_);
  ASSERT_TRUE(masks);
  EXPECT_EQ(masks->caught & kTrap, 0U) << "SIGTRAP has its default action again";
  computes_right();
}

TEST_F(Instruments, are_found_in_the_memory_of_a_child_that_nobody_announced) {
  ForkOrigins origins;
  EXPECT_EQ(origins.find(child_, tracee_.process.get()).code, code_);
  origins.remember_ended(tracee_.process, core::Clock::now());
  EXPECT_EQ(origins.find(child_, nullptr).code, code_);
  EXPECT_EQ(origins.find(::getpid(), nullptr).code, nullptr) << "without our page";
}

}  // namespace
}  // namespace sp::supervisor
