#include "supervisor/guardian/code_change.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "arch/native.h"
#include "core/check.h"
#include "core/page.h"

namespace sp::supervisor {
namespace {

using arch::NativeLivePatch;
using core::Address;

/// `hold` writes it, and `head` writes as many bytes.
constexpr auto& kHold = NativeLivePatch::kHold;

void put_step(const CodeChange& change, ChangeStep step, std::span<std::byte> there) {
  if (change.is_second) {
    if (step != ChangeStep::hold) {
      std::copy_n(change.to.begin(), change.size, there.begin());
    }
    return;
  }
  switch (step) {
    case ChangeStep::hold:
      std::copy(kHold.begin(), kHold.end(), there.begin());
      break;
    case ChangeStep::tail:
      std::copy(change.to.begin() + kHold.size(),
                change.to.begin() + static_cast<std::ptrdiff_t>(change.size),
                there.begin() + kHold.size());
      break;
    case ChangeStep::head:
      std::copy_n(change.to.begin(), kHold.size(), there.begin());
      break;
  }
}

/// Memory around changes of one page. Nobody else writes there: what does not change is written as
/// it was.
class Surroundings {
 public:
  Surroundings(int memory, std::span<const CodeChange> changes) : memory_(memory) {
    begin_ = changes.front().address.value();
    std::uint64_t end = 0;
    for (const CodeChange& change : changes) {
      SP_CHECK(change.address.value() >= begin_);  // sorted
      end = std::max(end, change.range().end.value());
    }
    bytes_.resize(end - begin_);
    is_read_ = ::pread(memory_, bytes_.data(), bytes_.size(), static_cast<off_t>(begin_)) ==
               static_cast<ssize_t>(bytes_.size());
  }

  [[nodiscard]] bool is_read() const { return is_read_; }
  [[nodiscard]] std::span<std::byte> at(Address address) {
    return std::span(bytes_).subspan(address.value() - begin_);
  }
  [[nodiscard]] bool write() const {
    return ::pwrite(memory_, bytes_.data(), bytes_.size(), static_cast<off_t>(begin_)) ==
           static_cast<ssize_t>(bytes_.size());
  }

 private:
  int memory_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
  bool is_read_ = false;
};

template <typename Visit>
void for_each_page_of(int memory, std::span<const CodeChange> changes, const Visit& visit) {
  for (auto rest = changes; !rest.empty();) {
    const std::uint64_t page = rest.front().address.value() / core::kPageSize;
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const CodeChange& change) {
      return change.address.value() / core::kPageSize != page;
    });
    const auto of_page = rest.first(static_cast<std::size_t>(end - rest.begin()));
    Surroundings there(memory, of_page);
    visit(of_page, there);
    rest = rest.subspan(of_page.size());
  }
}

thread_local core::Duration g_waited{};

enum class Visit : std::uint8_t { under_way, done, failed };

bool run_on_every_cpu() {
  cpu_set_t allowed;
  std::memset(&allowed, 0xFF, sizeof allowed);
  bool is_done = ::sched_setaffinity(0, sizeof allowed, &allowed) == 0 &&
                 ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
                 CPU_COUNT(&allowed) == ::get_nprocs();
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && is_done; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      is_done = ::sched_setaffinity(0, sizeof one, &one) == 0;
    }
  }
  return is_done;
}

}  // namespace

bool is_of_change(const CodeChange& change, std::span<const std::byte> there) {
  for (std::size_t i = 0; i < change.size; ++i) {
    const bool is_held =
        (i < kHold.size() && there[i] == kHold[i]) ||
        (i < arch::Native::kBreakpoint.size() && there[i] == arch::Native::kBreakpoint[i]);
    if (there[i] != change.from[i] && there[i] != change.to[i] && !is_held) {
      return false;
    }
  }
  return true;
}

void sort_changes(std::vector<CodeChange>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const CodeChange& a, const CodeChange& b) { return a.address < b.address; });
}

bool take_step(int memory, std::span<const CodeChange> changes, ChangeStep step) {
  bool is_written = true;
  for_each_page_of(memory, changes, [&](std::span<const CodeChange> of_page, Surroundings& there) {
    if (there.is_read()) {
      for (const CodeChange& change : of_page) {
        put_step(change, step, there.at(change.address));
      }
    }
    is_written = there.is_read() && there.write() && is_written;
  });
  return is_written;
}

bool visit_every_cpu() {
  constexpr int kRounds = 2'000;
  if (::sched_getscheduler(0) != SCHED_FIFO) {
    return false;
  }
  const auto outcome = std::make_shared<std::atomic<Visit>>(Visit::under_way);
  try {
    std::thread([outcome] {
      *outcome = run_on_every_cpu() ? Visit::done : Visit::failed;
    }).detach();
  } catch (const std::system_error&) {
    return false;  // no more threads are allowed
  }
  for (int round = 0; round < kRounds && *outcome == Visit::under_way; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(10));
  }
  return *outcome == Visit::done;
}

void wait_for_every_cpu() {
  const core::TimePoint began = core::Clock::now();
  if (!visit_every_cpu() && ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  g_waited += core::Clock::now() - began;
}

core::Duration waited_for_every_cpu() { return g_waited; }

std::vector<FoundBytes> read_changes(int memory, std::span<const CodeChange> changes) {
  std::vector<FoundBytes> found;
  for_each_page_of(memory, changes, [&](std::span<const CodeChange> of_page, Surroundings& there) {
    for (const CodeChange& change : of_page) {
      if (there.is_read()) {
        FoundBytes& one = found.emplace_back(FoundBytes{change, {}});
        std::copy_n(there.at(change.address).begin(), change.size, one.there.begin());
      }
    }
  });
  return found;
}

}  // namespace sp::supervisor
