#include "supervisor/guardian/restoration.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "arch/native.h"
#include "core/page.h"
#include "supervisor/guardian/code_change.h"
#include "supervisor/guardian/handler_page.h"
#include "supervisor/guardian/trap_drain.h"

namespace sp::supervisor {
namespace {

constexpr std::size_t kBytes = arch::Native::kBreakpoint.size();

struct Breakpoint {
  std::uint64_t address;
  std::uint32_t original;
};

/// What is to be done in one memory.
struct Work {
  SpaceMemory memory;
  std::vector<Breakpoint> breakpoints;
  std::vector<Breakpoint> gates;
  std::vector<CodeChange> changes;
};

bool is_breakpoint(const std::byte* at) {
  return std::equal(at, at + kBytes, arch::Native::kBreakpoint.begin());
}

/// Restores the breakpoints of one page, sorted by address, with one read and one write: as long as
/// one is left, a thread that blocks SIGTRAP dies of it. Nobody else writes to text meanwhile.
void restore_page(int memory, std::span<const Breakpoint> breakpoints) {
  std::array<std::byte, core::kPageSize + kBytes> bytes{};
  const std::uint64_t first = breakpoints.front().address;
  const std::size_t size = breakpoints.back().address + kBytes - first;
  if (::pread(memory, bytes.data(), size, static_cast<off_t>(first)) !=
      static_cast<ssize_t>(size)) {
    return;
  }
  for (const Breakpoint& one : breakpoints) {
    std::byte* const at = bytes.data() + (one.address - first);
    if (is_breakpoint(at)) {
      std::memcpy(at, &one.original, kBytes);
    }
  }
  [[maybe_unused]] const ssize_t written =
      ::pwrite(memory, bytes.data(), size, static_cast<off_t>(first));
}

void restore_all(int memory, std::span<const Breakpoint> breakpoints) {
  for (auto rest = breakpoints; !rest.empty();) {
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const Breakpoint& one) {
      return one.address / core::kPageSize != rest.front().address / core::kPageSize;
    });
    const auto page = static_cast<std::size_t>(end - rest.begin());
    restore_page(memory, rest.first(page));
    rest = rest.subspan(page);
  }
}

void sort_by_address(std::vector<Breakpoint>& breakpoints) {
  std::sort(breakpoints.begin(), breakpoints.end(),
            [](const Breakpoint& a, const Breakpoint& b) { return a.address < b.address; });
}

/// Removing the breakpoints that are there, on their way to other changes or left from before,
/// makes it the original.
bool is_explained_by(std::span<const Breakpoint> breakpoints, const FoundBytes& found) {
  const std::uint64_t begin = found.change.address.value();
  auto bytes = found.there;
  auto one = std::lower_bound(breakpoints.begin(), breakpoints.end(), begin,
                              [](const Breakpoint& a, std::uint64_t b) { return a.address < b; });
  for (; one != breakpoints.end() && one->address + kBytes <= begin + found.change.size; ++one) {
    std::byte* const at = bytes.data() + (one->address - begin);
    if (is_breakpoint(at)) {
      std::memcpy(at, &one->original, kBytes);
    }
  }
  return std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(found.change.size),
                    found.change.to.begin());
}

/// Takes those out that lie within a change. Both are sorted.
std::vector<Breakpoint> take_within(std::vector<Breakpoint>& breakpoints,
                                    std::span<const CodeChange> changes) {
  std::vector<Breakpoint> within;
  core::Address reach;  // the end of all changes that begin before
  auto change = changes.begin();
  std::erase_if(breakpoints, [&](const Breakpoint& one) {
    const core::Address at{one.address};
    for (; change != changes.end() && change->address <= at; ++change) {
      reach = std::max(reach, change->range().end);
    }
    if (at < reach) {
      within.push_back(one);
    }
    return at < reach;
  });
  return within;
}

/// Keeps the changes that are there. Entries outlive what they undo, so there may be several at an
/// address, and breakpoints: takes those out of `breakpoints` that are a part of such a change, for
/// a byte of it may look like a breakpoint.
void tell_apart(Work& work, std::vector<Breakpoint>& breakpoints) {
  const auto found = read_changes(work.memory.descriptor, work.changes);
  work.changes.clear();
  for (const FoundBytes& one : found) {
    if (is_of_change(one.change, one.there) && !is_explained_by(breakpoints, one) &&
        !is_explained_by(work.gates, one)) {
      work.changes.push_back(one.change);
    }
  }
  (void)take_within(breakpoints, work.changes);
  (void)take_within(work.gates, work.changes);
}

/// What threads may die of, at once; but for the breakpoints that are a part of a change.
void restore_breakpoints(Work& work) {
  auto unclear = take_within(work.breakpoints, work.changes);
  restore_all(work.memory.descriptor, work.breakpoints);
  tell_apart(work, unclear);
  restore_all(work.memory.descriptor, unclear);
}

/// A thread may have lost its CPU between a jump, which is held now, and the second one: waits
/// until each has had a CPU since, or is stopped elsewhere. One that is stopped there all the time
/// is not waited for.
void wait_for_second_jumps(std::span<const Work> works) {
  constexpr std::uint64_t kJump = 20'000;  // nanoseconds
  constexpr int kRounds = 1000;
  std::vector<TrapDrain> threads;
  for (const Work& work : works) {
    if (std::any_of(work.changes.begin(), work.changes.end(),
                    [](const CodeChange& change) { return change.is_second; })) {
      threads.emplace_back(owner_of(work.memory), kJump, [&changes = work.changes](auto pc) {
        return std::any_of(changes.begin(), changes.end(), [pc](const CodeChange& change) {
          return change.is_second && change.range().contains(core::Address{pc});
        });
      });
    }
  }
  for (int round = 0; round < kRounds && !threads.empty(); ++round) {
    std::erase_if(threads, [](TrapDrain& one) { return one.check(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void complete_changes(std::span<Work> works) {
  for (const ChangeStep step : {ChangeStep::hold, ChangeStep::tail, ChangeStep::head}) {
    if (step != ChangeStep::hold) {
      wait_for_every_cpu();
    }
    if (step == ChangeStep::tail) {
      wait_for_second_jumps(works);
    }
    for (const Work& work : works) {
      (void)take_step(work.memory.descriptor, work.changes, step);
    }
  }
}

/// As changes, of at least what it takes to wait there.
std::vector<CodeChange> changes_of(const Work& work, HeldGates& held) {
  constexpr auto& kHold = arch::NativeLivePatch::kHold;
  std::vector<CodeChange> changes;
  for (const Breakpoint& gate : work.gates) {
    changes.push_back({core::Address{gate.address}, std::max(kBytes, kHold.size()), {}, {}});
  }
  std::vector<CodeChange> there;
  for (const FoundBytes& found : read_changes(work.memory.descriptor, changes)) {
    const auto gate =
        std::lower_bound(work.gates.begin(), work.gates.end(), found.change.address.value(),
                         [](const Breakpoint& one, std::uint64_t at) { return one.address < at; });
    CodeChange change = found.change;
    change.from = found.there;
    const std::pair place{work.memory.space, gate->address};
    if (is_breakpoint(found.there.data())) {
      change.to = found.there;
      std::memcpy(change.to.data(), &gate->original, kBytes);
      held[place] = change.to;
      there.push_back(change);
    } else if (const auto before = held.find(place);
               before != held.end() &&
               std::equal(kHold.begin(), kHold.end(), found.there.begin())) {
      change.to = before->second;
      there.push_back(change);
    }
  }
  return there;
}

/// A thread that goes on at the first gate that is restored may block SIGTRAP there, and would die
/// of the next one: all threads wait, in the injected handler or at the gates' jumps to themselves,
/// until none of these is a breakpoint any more.
void restore_gates(std::span<const Work> works, HeldGates& held) {
  std::vector<std::vector<CodeChange>> all;
  all.reserve(works.size());
  bool any = false;
  for (const Work& work : works) {
    all.push_back(changes_of(work, held));
    any = any || !all.back().empty();
  }
  if (!any) {
    return;
  }
  for (const ChangeStep step : {ChangeStep::hold, ChangeStep::head}) {
    if (step == ChangeStep::head) {
      wait_for_every_cpu();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // who was not patient yet is now
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
      (void)take_step(works[i].memory.descriptor, all[i], step);
    }
  }
}

std::vector<Work> collect(const Journal& journal, std::span<const SpaceMemory> memories) {
  std::vector<Work> works;
  std::multimap<std::uint32_t, std::size_t> of_space;
  for (const SpaceMemory& memory : memories) {
    of_space.emplace(memory.space, works.size());
    works.push_back({memory, {}, {}, {}});
  }
  const auto for_each_of = [&](std::uint32_t space, const auto& visit) {
    const auto [first, end] = of_space.equal_range(space);
    for (auto one = first; one != end; ++one) {
      visit(works[one->second]);
    }
  };
  journal.breakpoints().for_each([&](core::Address address, const Journal::Breakpoint& entry) {
    for_each_of(entry.space(), [&](Work& work) {
      (entry.is_last() ? work.gates : work.breakpoints)
          .push_back({address.value(), entry.original});
    });
  });
  journal.changes().for_each([&](core::Address address, const Journal::Change& entry) {
    for_each_of(entry.space, [&](Work& work) {
      work.changes.push_back({address, entry.size, entry.from, entry.to, entry.is_second != 0});
    });
  });
  for (Work& work : works) {
    sort_by_address(work.breakpoints);
    sort_by_address(work.gates);
    sort_changes(work.changes);
  }
  return works;
}

}  // namespace

pid_t owner_of(const SpaceMemory& memory) {
  std::array<char, 64> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(memory.descriptor);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size() - 1);
  constexpr std::string_view kProc = "/proc/";
  const bool is_process = size > 0 && std::string_view(path.data()).starts_with(kProc);
  return is_process ? static_cast<pid_t>(std::atoi(path.data() + kProc.size())) : 0;
}

void restore_memories(const Journal& journal, std::span<const SpaceMemory> memories,
                      std::uint64_t superprofiler, HeldGates& held) {
  std::vector<Work> works = collect(journal, memories);
  for (Work& work : works) {
    restore_breakpoints(work);
  }
  const bool changes_any = std::any_of(works.begin(), works.end(),
                                       [](const Work& work) { return !work.changes.empty(); });
  for (const Work& work : works) {
    set_patience(work.memory, superprofiler, true);
  }
  if (changes_any) {
    complete_changes(works);
  }
  restore_gates(works, held);
  for (const Work& work : works) {
    set_patience(work.memory, superprofiler, false);
  }
}

}  // namespace sp::supervisor
