#include "supervisor/sampling/blocked_threads.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "arch/native.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/process_vm.h"

namespace sp::supervisor {
namespace {

constexpr core::Duration kReportPeriod = std::chrono::milliseconds(100);
constexpr std::size_t kStackBytes = std::size_t{64} << 10U;

/// How often the thread was scheduled: the third number of schedstat (sched-stats.txt).
std::uint64_t parse_times_scheduled(std::string_view schedstat) {
  const auto last = schedstat.rfind(' ');
  std::uint64_t value = 0;
  if (last != std::string_view::npos) {
    std::from_chars(schedstat.data() + last + 1, schedstat.data() + schedstat.size(), value);
  }
  return value;
}

std::uint64_t read_times_scheduled(core::UniqueFd& file, const SampleSlot& slot) {
  std::array<char, 256> buffer;
  return parse_times_scheduled(reread(file, slot, "schedstat", buffer));
}

}  // namespace

std::optional<BlockedThreads::WaitKey> BlockedThreads::read_key(Wait& wait,
                                                                const SampleSlot& slot) {
  std::array<char, 256> buffer;
  const auto call = parse_syscall(reread(wait.syscall_file, slot, "syscall", buffer));
  if (!call) {
    return std::nullopt;
  }
  WaitKey key{call->number, call->sp, call->pc, 0};
  const int interrupted = slot.interrupted_call;
  if (interrupted >= 0 && arch::Native::syscall_name(key.number) == "restart_syscall") {
    key.number = interrupted;
  }
  key.times_scheduled = read_times_scheduled(wait.schedstat_file, slot);
  return key;
}

bool BlockedThreads::found_blocked(SampleSlot& slot, core::TimePoint now) {
  Wait& wait = waits_[&slot];
  const auto key = read_key(wait, slot);
  if (!key) {
    return true;
  }
  WaitKey known = wait.key;
  if (slot.scheduled_by_us.exchange(false)) {
    known.times_scheduled = key->times_scheduled;
    wait.key = known;
  }
  if (wait.id != 0 && *key == known) {
    ++wait.ticks;
    if (now - wait.reported > kReportPeriod) {
      report(slot, wait, now);
    }
    return true;
  }
  woke(slot, now);
  core::OffCpuSample waited;
  waited.wait_id = next_id_;
  waited.syscall = name_of_call(key->number);
  waited.unstopped = true;
  core::RawStack raw =
      copy_sleeping_stack(slot.thread.tid, {key->number, {}, key->sp, key->pc}, kStackBytes);
  const auto still = read_key(wait, slot);
  if (!still || *still != *key) {
    return true;  // woke up meanwhile: the copy may be torn
  }
  waited.raw = std::move(raw);
  wait.key = *key;
  wait.id = next_id_++;
  wait.ticks = 0;
  wait.syscall = waited.syscall;
  wait.reported = now;
  if (!events_.try_push_quietly({slot.process, slot.thread, now, std::move(waited)})) {
    wait.id = 0;
    return false;
  }
  return true;
}

bool BlockedThreads::is_followed(const SampleSlot& slot) const {
  const auto found = waits_.find(&slot);
  return found != waits_.end() && found->second.id != 0;
}

void BlockedThreads::woke(SampleSlot& slot, core::TimePoint now) {
  const auto found = waits_.find(&slot);
  if (found != waits_.end()) {
    report(slot, found->second, now);
    found->second.id = 0;
  }
}

void BlockedThreads::ended(SampleSlot& slot, core::TimePoint now) {
  woke(slot, now);
  waits_.erase(&slot);
}

bool BlockedThreads::was_woken_by_us(SampleSlot& slot) {
  const auto found = waits_.find(&slot);
  return found != waits_.end() && found->second.id != 0 && slot.scheduled_by_us &&
         read_times_scheduled(found->second.schedstat_file, slot) <
             found->second.key.times_scheduled + 2;
}

void BlockedThreads::report(const SampleSlot& slot, Wait& wait, core::TimePoint now) {
  wait.reported = now;
  if (wait.id == 0 || wait.ticks == 0) {
    return;
  }
  core::OffCpuSample waited;
  waited.wait_id = wait.id;
  waited.ticks = wait.ticks;
  waited.syscall = wait.syscall;
  if (events_.try_push_quietly({slot.process, slot.thread, now, std::move(waited)})) {
    wait.ticks = 0;
  }
}

}  // namespace sp::supervisor
