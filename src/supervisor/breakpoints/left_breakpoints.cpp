#include "supervisor/breakpoints/left_breakpoints.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "arch/native.h"
#include "core/clock.h"
#include "supervisor/breakpoints/page_edits.h"
#include "supervisor/breakpoints/target_journal.h"
#include "supervisor/breakpoints/written_code.h"

namespace sp::supervisor {
namespace {

using core::Address;
using Entry = TargetJournal::Entry;
using Rescue = arch::NativeTrapHandler::Rescue;

std::vector<Entry> read_journal(const TargetMemory& memory, Address journal) {
  std::vector<Entry> all;
  std::array<Entry, 256> some{};
  for (bool is_more = true; is_more;) {
    const auto bytes = std::as_writable_bytes(std::span(some));
    const std::size_t got = memory.read(journal, bytes) / sizeof(Entry);
    const auto end = std::find_if(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got),
                                  [](const Entry& entry) { return entry.address == 0; });
    all.insert(all.end(), some.begin(), end);
    is_more = end == some.end();
    journal = journal + sizeof some;
  }
  return all;
}

bool is_there(const TargetMemory& memory, const Entry& entry) {
  return !is_breakpoint(std::as_bytes(std::span(&entry.original, 1))) &&
         is_breakpoint_at(memory, Address{entry.address});
}

/// The guardian has done all that it had to do.
bool is_disarmed(const TargetMemory& memory, Address handler) {
  std::array<std::byte, Rescue::kDisarmed.size()> bytes{};
  return memory.read(handler + Rescue::kDisarmedAt, bytes) == bytes.size() &&
         bytes == Rescue::kDisarmed;
}

}  // namespace

void await_restoration(const TargetMemory& memory, Address handler) {
  constexpr core::Duration kPatience = std::chrono::seconds(2);
  if (is_disarmed(memory, handler)) {
    return;
  }
  const core::TimePoint begin = core::Clock::now();
  auto left = read_journal(memory, handler + Rescue::kBreakpoints);
  std::erase_if(left, [&](const Entry& entry) { return !is_there(memory, entry); });
  while (!left.empty() && core::Clock::now() - begin < kPatience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::erase_if(left, [&](const Entry& entry) { return !is_there(memory, entry); });
  }
  for (const Entry& entry : left) {
    if (entry.order != RestoreOrder::never) {
      (void)memory.write(
          Address{entry.address},
          std::as_bytes(std::span(&entry.original, 1)).first(arch::Native::kBreakpoint.size()));
    }
  }
}

}  // namespace sp::supervisor
