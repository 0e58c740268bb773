#include "supervisor/copies/code_patches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "arch/native.h"
#include "core/check.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr auto& kBreakpoint = arch::Native::kBreakpoint;

bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t size) {
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin());
}

bool overlap_each_other(std::span<const CodeChange> sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end(),
                            [](const CodeChange& one, const CodeChange& next) {
                              return one.range().end > next.address;
                            }) != sorted.end();
}

/// Those at whose places nobody else has written.
std::vector<CodeChange> find_intact(int memory, std::span<const CodeChange> changes,
                                    const std::function<bool(const FoundBytes&)>& leaves_out = {}) {
  std::vector<CodeChange> intact;
  for (const FoundBytes& found : read_changes(memory, changes)) {
    if (is_of_change(found.change, found.there) && !(leaves_out && leaves_out(found))) {
      intact.push_back(found.change);
    }
  }
  return intact;
}

}  // namespace

CodePatches::~CodePatches() {
  forget_removed();
  remove_exits({Address{0}, Address{~std::uint64_t{0}}});
  for (const auto& [address, entry] : jumps_) {
    guardian_.journal().remove_change(entry.journal_entry);
  }
}

core::Result<void> CodePatches::check(std::span<const CodeChange> jumps) {
  if (overlap_each_other(jumps)) {
    return core::fail("jumps to copies overlap");
  }
  for (const CodeChange& jump : jumps) {
    SP_CHECK(jump.size >= arch::NativeLivePatch::kHold.size() && jump.size <= CodeChange::kLongest);
    std::array<std::byte, CodeChange::kLongest> original{};
    const bool is_original =
        code_.fetch(jump.address, std::span(original).first(jump.size)) == jump.size &&
        code_.keeps_original(jump.range()) && is_equal(original, jump.from, jump.size);
    bool is_free = !code_.jumps().overlap(jump.address, jump.size);
    for (std::size_t i = 0; i < jump.size; ++i) {
      is_free = is_free && code_.inserted_at(jump.address + i) == nullptr;
    }
    if (!is_original || !is_free) {
      return core::fail(fmt::format("a jump to a copy at {:#x}: {}", jump.address.value(),
                                    is_free ? "the code is another one" : "the place is taken"));
    }
  }
  const auto found = read_changes(code_.memory().fd(), jumps);
  const bool is_there = std::all_of(found.begin(), found.end(), [](const FoundBytes& one) {
    return is_equal(one.there, one.change.from, one.change.size);
  });
  return found.size() == jumps.size() && is_there
             ? core::Result<void>{}
             : core::fail("jumps to copies: the program has changed its code");
}

Journal::EntryId CodePatches::add_to_journals(const CodeChange& undo,
                                              std::span<const std::byte> there) {
  code_.register_memory();
  return holds_.add(undo, there) ? guardian_.journal().add_change(code_.space(), undo)
                                 : Journal::kNoEntry;
}

core::Result<void> CodePatches::take_steps(std::span<const CodeChange> changes,
                                           const StopWoken& stop_woken) const {
  const int memory = code_.memory().fd();
  if (!take_step(memory, changes, ChangeStep::hold)) {
    return core::fail_errno("writing to code");
  }
  if (!stop_woken()) {
    return core::fail("a thread could not be stopped");
  }
  if (!take_step(memory, changes, ChangeStep::tail)) {
    return core::fail_errno("writing to code");
  }
  if (!stop_woken()) {
    return core::fail("a thread could not be stopped");
  }
  return take_step(memory, changes, ChangeStep::head) ? core::Result<void>{}
                                                      : core::fail_errno("writing to code");
}

/// From whatever step: back to the state before. Threads may run that could not be stopped.
void CodePatches::undo(std::span<const CodeChange> changes) const {
  std::vector<CodeChange> back;
  std::transform(changes.begin(), changes.end(), std::back_inserter(back),
                 [](const CodeChange& change) { return change.reversed(); });
  for (const ChangeStep step : {ChangeStep::hold, ChangeStep::tail, ChangeStep::head}) {
    if (step != ChangeStep::hold) {
      wait_for_every_cpu();
    }
    (void)take_step(code_.memory().fd(), back, step);
  }
}

core::Result<void> CodePatches::apply(std::vector<CodeChange> jumps, const StopWoken& stop_woken) {
  sort_changes(jumps);
  auto result = check(jumps);
  std::vector<Entry> entries;
  for (const CodeChange& jump : jumps) {
    if (!result) {
      break;
    }
    entries.push_back({jump, add_to_journals(jump.reversed(), jump.from)});
    if (entries.back().journal_entry == Journal::kNoEntry) {
      entries.pop_back();
      result = core::fail("a journal of changed code is full");
    }
  }
  if (result && !holds_.flush()) {
    result = core::fail_errno("writing to the target's journal");
  }
  if (result) {
    result = take_steps(jumps, stop_woken);
    if (!result) {
      undo(jumps);
    }
  }
  for (const Entry& entry : entries) {
    if (result) {
      jumps_[entry.change.address] = entry;
      code_.jumps().add(entry.change.range());
    } else {
      removed_.push_back(entry);
    }
  }
  return result;
}

core::Result<void> CodePatches::remove(std::span<const Address> heads,
                                       const StopWoken& stop_woken) {
  std::vector<CodeChange> changes;
  for (const Address head : heads) {
    if (const auto found = jumps_.find(head); found != jumps_.end()) {
      changes.push_back(found->second.change.reversed());
    }
  }
  sort_changes(changes);
  const auto there = find_intact(code_.memory().fd(), changes);
  auto result = take_steps(there, stop_woken);
  if (!result) {
    undo(there);
    return result;
  }
  for (const CodeChange& change : changes) {
    const auto entry = jumps_.find(change.address);
    removed_.push_back(entry->second);
    jumps_.erase(entry);
    code_.jumps().remove(change.address);
  }
  return result;
}

core::Result<void> CodePatches::remove_all(const StopWoken& stop_woken) {
  std::vector<Address> heads;
  for (const auto& [address, entry] : jumps_) {
    heads.push_back(address);
  }
  return remove(heads, stop_woken);
}

bool CodePatches::add_exits(std::span<const CodeChange> exits) {
  for (const CodeChange& exit : exits) {
    remove_exits(exit.range());
    const auto id = add_to_journals(exit, exit.from);
    if (id == Journal::kNoEntry) {
      return false;
    }
    exits_[exit.address] = {exit, id};
  }
  return holds_.flush();
}

void CodePatches::remove_exits(core::AddressRange range) {
  const auto first = exits_.lower_bound(range.begin);
  const auto end = exits_.lower_bound(range.end);
  for (auto exit = first; exit != end; ++exit) {
    guardian_.journal().remove_change(exit->second.journal_entry);
  }
  exits_.erase(first, end);
}

void CodePatches::open_exits() const {
  std::vector<CodeChange> exits;
  for (const auto& [address, entry] : exits_) {
    exits.push_back(entry.change);
  }
  (void)take_steps(find_intact(code_.memory().fd(), exits), [] {
    wait_for_every_cpu();
    return true;
  });
}

/// The jump was removed, and a breakpoint of ours stands there.
bool CodePatches::is_breakpoint_only(const FoundBytes& found) const {
  auto bytes = found.there;
  const CodeChange& change = found.change;
  for (std::size_t i = 0; i + kBreakpoint.size() <= change.size; ++i) {
    if (is_equal(std::span(bytes).subspan(i), kBreakpoint, kBreakpoint.size()) &&
        code_.inserted_at(change.address + i) != nullptr) {
      std::copy_n(change.to.begin() + static_cast<std::ptrdiff_t>(i), kBreakpoint.size(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return is_equal(bytes, change.to, change.size);
}

bool CodePatches::restore_child(const TargetMemory& child) const {
  std::vector<CodeChange> changes;
  for (const auto& [address, entry] : jumps_) {
    changes.push_back(entry.change.reversed());
  }
  for (const Entry& entry : removed_) {
    changes.push_back(entry.change.reversed());
  }
  sort_changes(changes);
  const auto there = find_intact(child.fd(), changes,
                                 [this](const FoundBytes& one) { return is_breakpoint_only(one); });
  // Its only thread is stopped: the order does not matter to it, but to the guardian, should we
  // die.
  return take_step(child.fd(), there, ChangeStep::hold) &&
         take_step(child.fd(), there, ChangeStep::tail) &&
         take_step(child.fd(), there, ChangeStep::head);
}

void CodePatches::forget_removed() {
  for (const Entry& entry : removed_) {
    guardian_.journal().remove_change(entry.journal_entry);
  }
  removed_.clear();
}

void CodePatches::forget(core::AddressRange range) {
  std::erase_if(removed_, [&](const Entry& entry) {
    const bool is_inside = range.contains(entry.change.address);
    if (is_inside) {
      guardian_.journal().remove_change(entry.journal_entry);
    }
    return is_inside;
  });
  std::erase_if(jumps_, [&](const auto& jump) {
    const bool is_inside = range.contains(jump.first);
    if (is_inside) {
      guardian_.journal().remove_change(jump.second.journal_entry);
      code_.jumps().remove(jump.first);
    }
    return is_inside;
  });
  remove_exits(range);
  holds_.forget(range);
}

}  // namespace sp::supervisor
