#include "supervisor/sampling/blocked_threads.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "arch/native.h"
#include "supervisor/linux/memory.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

constexpr core::Duration kWaitReportPeriod = std::chrono::milliseconds(100);
constexpr std::size_t kWaitStackBytes = std::size_t{64} << 10U;

/// How often the thread was put on a CPU: the third number of schedstat (sched-stats.txt).
std::uint64_t times_scheduled(std::string_view schedstat) {
  const auto last = schedstat.rfind(' ');
  std::uint64_t value = 0;
  if (last != std::string_view::npos) {
    std::from_chars(schedstat.data() + last + 1, schedstat.data() + schedstat.size(), value);
  }
  return value;
}

std::optional<WaitKey> read_wait(SampleSlot& slot) {
  std::array<char, 256> buffer;
  const auto call = parse_syscall(reread(slot.syscall, slot, "syscall", buffer));
  if (!call) {
    return std::nullopt;
  }
  WaitKey key{call->number, call->sp, call->pc, 0};
  const int interrupted = slot.interrupted_call;
  if (interrupted >= 0 && arch::Native::syscall_name(key.number) == "restart_syscall") {
    key.number = interrupted;
  }
  key.times_scheduled = times_scheduled(reread(slot.schedstat, slot, "schedstat", buffer));
  return key;
}

std::string wait_name(int number) {
  if (number < 0) {
    return "page fault";
  }
  const auto name = arch::Native::syscall_name(number);
  return name.empty() ? fmt::format("syscall {}", number) : std::string(name);
}

}  // namespace

bool WaitWatch::look(SampleSlot& slot, core::TimePoint now) {
  const auto key = read_wait(slot);
  if (!key) {
    return true;
  }
  WaitKey known = slot.wait;
  if (slot.scheduled_by_us.exchange(false)) {
    known.times_scheduled = key->times_scheduled;
    slot.wait = known;
  }
  if (slot.wait_id != 0 && *key == known) {
    ++slot.wait_ticks;
    if (now - slot.wait_reported > kWaitReportPeriod) {
      report(slot, now);
    }
    return true;
  }
  woke(slot, now);
  core::OffCpuSample waited;
  waited.wait_id = next_wait_;
  waited.syscall = wait_name(key->number);
  waited.unstopped = true;
  core::RawStack raw;
  raw.registers = arch::Native::to_dwarf({});
  raw.registers.pc = core::Address{key->pc};
  raw.registers.sp = core::Address{key->sp};
  raw.registers.complete = false;
  raw.bytes.resize(kWaitStackBytes);
  copy_stack(slot.thread.tid, raw);
  const auto still = read_wait(slot);
  if (!still || *still != *key) {
    return true;  // woke up meanwhile: the copy may be torn
  }
  waited.raw = std::move(raw);
  slot.wait = *key;
  slot.wait_id = next_wait_++;
  slot.wait_ticks = 0;
  slot.wait_syscall = waited.syscall;
  slot.wait_reported = now;
  if (!events_.try_push_quietly({slot.process, slot.thread, now, std::move(waited)})) {
    slot.wait_id = 0;
    return false;
  }
  return true;
}

void WaitWatch::woke(SampleSlot& slot, core::TimePoint now) {
  report(slot, now);
  slot.wait_id = 0;
}

bool WaitWatch::is_awake_for_us(SampleSlot& slot) {
  std::array<char, 256> buffer;
  return slot.wait_id != 0 && slot.scheduled_by_us &&
         times_scheduled(reread(slot.schedstat, slot, "schedstat", buffer)) <
             slot.wait.times_scheduled + 2;
}

void WaitWatch::report(SampleSlot& slot, core::TimePoint now) {
  slot.wait_reported = now;
  if (slot.wait_id == 0 || slot.wait_ticks == 0) {
    return;
  }
  core::OffCpuSample waited;
  waited.wait_id = slot.wait_id;
  waited.ticks = slot.wait_ticks;
  waited.syscall = slot.wait_syscall;
  if (events_.try_push_quietly({slot.process, slot.thread, now, std::move(waited)})) {
    slot.wait_ticks = 0;
  }
}

}  // namespace sp::supervisor
