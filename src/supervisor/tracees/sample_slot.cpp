#include "supervisor/tracees/sample_slot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "supervisor/linux/deferred_stop.h"
#include "supervisor/linux/open_files.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

std::string_view reread(core::UniqueFd& fd, const SampleSlot& slot, const char* name,
                        std::span<char> buffer) {
  const bool was_open = fd.valid();
  if (!was_open) {
    const auto path = fmt::format("/proc/{}/task/{}/{}", slot.process.pid, slot.thread.tid, name);
    fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  const ssize_t got = ::pread(fd.get(), buffer.data(), buffer.size(), 0);
  if (!was_open && !may_keep_open(fd.get())) {
    fd.reset();
  }
  return got > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(got))
                 : std::string_view{};
}

void settle_discarded_stop(SampleSlot& slot) {
  if (slot.state != SlotState::stop_pending || !slot.by_signal) {
    return;
  }
  const DeferralWatch watch;
  const auto masks = read_signal_masks(slot.thread.tid);
  if (!masks || (masks->thread_pending & signal_bit(SIGSTOP)) != 0) {
    return;
  }
  // Read last: from the moment in which the signal is taken the thread is in its stop.
  const auto stat = read_stat(slot.thread.tid);
  const bool goes_on = stat && (stat->state == 'R' || stat->state == 'S' || stat->state == 'D');
  SlotState lost = SlotState::stop_pending;
  const bool is_lost = goes_on && watch.saw_none() && !slot.has_come;
  if (is_lost && slot.state.compare_exchange_strong(lost, SlotState::idle)) {
    --slot.guard->stops_in_flight;
  }
}

}  // namespace sp::supervisor
