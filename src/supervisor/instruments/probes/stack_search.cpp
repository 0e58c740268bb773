#include "supervisor/instruments/probes/stack_search.h"

#include <algorithm>

#include "arch/native.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/unwinding/native_frames.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// Of all stacks of a process together, from their threads' stack pointers on.
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20U;

}  // namespace

std::optional<Address> stack_pointer(pid_t tid, const WorldStop& world) {
  if (world.holds(tid)) {
    const auto registers = ptrace::registers(tid);
    return registers ? std::optional(Native::sp(*registers)) : std::nullopt;
  }
  const auto call = read_syscall(tid);
  return call ? std::optional(Address{call->sp}) : std::nullopt;
}

bool StackSearch::look_above(Address sp) {
  to_do_.push_back(sp);
  while (!to_do_.empty()) {
    const Address next = to_do_.back();
    to_do_.pop_back();
    if (!look_at_stack(next)) {
      return false;
    }
  }
  return true;
}

bool StackSearch::look_at_stack(Address sp) {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  const core::Mapping* const mapping = core::find_mapping(maps_, sp);
  if (mapping == nullptr || !mapping->writable) {
    return true;  // no stack
  }
  core::AddressRange range{Address{(sp.value() + kWord - 1) / kWord * kWord}, mapping->range.end};
  for (const core::AddressRange& done : done_) {
    if (done.end == range.end) {
      range.end = std::min(range.end, done.begin);
    }
  }
  if (range.begin >= range.end) {
    return true;
  }
  done_.push_back({range.begin, mapping->range.end});
  bytes_ += range.size();
  if (bytes_ > kMostBytes) {
    return false;
  }
  std::vector<std::uint64_t> words(range.size() / kWord);
  const auto into = std::as_writable_bytes(std::span(words));
  words.resize(code_.memory().read(range.begin, into) / kWord);
  look_at_words(words);
  return true;
}

bool StackSearch::is_code(Address address) const {
  const core::Mapping* const mapping = core::find_mapping(maps_, address);
  return mapping != nullptr && mapping->executable;
}

void StackSearch::look_at_words(std::span<const std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (code_.functions().module_at(Address{words[i]}) != nullptr) {
      found_(Address{words[i]});
    }
    const auto frame = NativeFrames::interrupted(words, i);
    if (frame && is_code(frame->pc)) {
      to_do_.push_back(frame->sp);
    }
  }
}

}  // namespace sp::supervisor
