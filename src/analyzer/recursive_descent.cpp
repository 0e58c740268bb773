#include "analyzer/recursive_descent.h"

#include <algorithm>

#include "analyzer/syscall_flow.h"
#include "arch/native.h"

namespace sp::analyzer {
namespace {

constexpr std::byte kLockPrefix{0xF0};

}  // namespace

RecursiveDescent::RecursiveDescent(core::AddressRange bounds, std::span<const std::byte> code,
                                   const Rejected& rejected)
    : bounds_(bounds),
      code_(code),
      rejected_(rejected),
      marks_(bounds.size()),
      flows_(bounds.size(), core::Flow::next) {}

std::optional<core::Instruction> RecursiveDescent::decode_at(Offset at) const {
  if (at >= code_.size()) {
    return std::nullopt;
  }
  return arch::Native::decode(code_.subspan(at), address_of(at));
}

void RecursiveDescent::follow_leader(core::Address leader) {
  if (bounds_.contains(leader)) {
    entries_.insert(static_cast<Offset>(leader - bounds_.begin));
    add_leader(static_cast<Offset>(leader - bounds_.begin), 0);
    follow_certain();
  }
}

void RecursiveDescent::follow_table(Offset jump, std::span<const core::Address> destinations,
                                    bool is_certain) {
  const auto provenance = static_cast<Provenance>(speculations_.size());
  speculations_.push_back({jump, owner_of(jump), true, is_certain});
  for (const core::Address destination : destinations) {
    go_to(destination, jump, provenance);
  }
}

void RecursiveDescent::follow_certain() {
  while (!certain_.empty()) {
    const Task task = certain_.back();
    certain_.pop_back();
    follow(task);
  }
}

// Certain code comes first, so that speculations are checked against all of it.
void RecursiveDescent::run() {
  while (true) {
    follow_certain();
    if (!likely_.empty()) {
      const Task task = likely_.back();
      likely_.pop_back();
      follow(task);
    } else if (next_after_call_ < after_calls_.size()) {
      speculate(after_calls_[next_after_call_].at, after_calls_[next_after_call_].provenance);
      ++next_after_call_;
    } else {
      return;
    }
  }
}

// Decodes from a leader until control leaves or reaches known code.
void RecursiveDescent::follow(Task task) {
  Offset at = task.at;
  std::uint8_t role = kLeader | kRunStart;
  while (true) {
    if (is_instruction(at)) {
      marks_[at] |= kLeader;
      return;
    }
    auto instruction = decode_at(at);
    const BehindCall behind = instruction ? behind_call(code_, at, *instruction) : BehindCall::once;
    if (behind == BehindCall::never) {
      instruction->flow = core::Flow::stop;
    }
    if (!instruction || instruction->length > marks_.size() - at) {
      fail(at, task.provenance);
      return;
    }
    const Offset next = at + instruction->length;
    for (Offset k = at; k < next; ++k) {
      if (marks_[k] != 0) {
        resolve_conflict(at, k, task.provenance);
        return;
      }
    }
    if ((role & kRunStart) != 0 && task.provenance != 0) {
      provenances_.emplace(at, task.provenance);
    }
    mark(at, *instruction, role);
    record_transfer(at, *instruction, task.provenance);
    if (core::ends_block(instruction->flow) && instruction->flow != core::Flow::branch) {
      return;
    }
    const bool begins_block =
        instruction->flow == core::Flow::branch || behind == BehindCall::in_two_or_none;
    role = begins_block ? kLeader : std::uint8_t{0};
    at = next;
  }
}

void RecursiveDescent::mark(Offset at, const core::Instruction& instruction, std::uint8_t role) {
  marks_[at] = static_cast<std::uint8_t>(instruction.length | role);
  for (Offset k = at + 1; k < at + instruction.length; ++k) {
    marks_[k] = kInside;
  }
  flows_[at] = instruction.flow;
}

// Records where an instruction transfers control, other than to the next one.
void RecursiveDescent::record_transfer(Offset at, const core::Instruction& instruction,
                                       Provenance provenance) {
  if (instruction.target) {
    go_to(*instruction.target, at, provenance);
  }
  switch (instruction.flow) {
    case core::Flow::call:
    case core::Flow::indirect_call:
      after_calls_.push_back({at + instruction.length, provenance});
      break;
    case core::Flow::indirect_jump:
      if (is_instruction(at)) {  // else it overlaps one
        indirect_jumps_.push_back(at);
      }
      break;
    case core::Flow::next:
    case core::Flow::syscall:
    case core::Flow::branch:
    case core::Flow::jump:
    case core::Flow::ret:
    case core::Flow::stop:
      break;
  }
}

void RecursiveDescent::go_to(core::Address target, Offset from, Provenance provenance) {
  if (!bounds_.contains(target)) {
    transfers_.push_back(target);
    return;
  }
  const auto at = static_cast<Offset>(target - bounds_.begin);
  edges_.push_back({at, from});
  add_leader(at, provenance);
}

void RecursiveDescent::add_leader(Offset at, Provenance provenance) {
  if (is_instruction(at)) {
    marks_[at] |= kLeader;
  } else if (provenance == 0) {
    certain_.push_back({at, provenance});
  } else {
    likely_.push_back({at, provenance});
  }
}

void RecursiveDescent::speculate(Offset after_call, Provenance parent) {
  if (after_call >= marks_.size() || rejected_.contains(after_call) ||
      newly_rejected_.contains(after_call)) {
    return;
  }
  if (is_instruction(after_call)) {
    marks_[after_call] |= kLeader;
    return;
  }
  const auto provenance = static_cast<Provenance>(speculations_.size());
  speculations_.push_back({after_call, parent, false, false});
  follow({after_call, provenance});
}

// An instruction that `provenance` leads to begins at `at` and overlaps an earlier one at the byte
// `with`.
void RecursiveDescent::resolve_conflict(Offset at, Offset with, Provenance provenance) {
  const Provenance owner = owner_of(with);
  if ((provenance == 0 && owner == 0) || is_behind_lock(at)) {
    follow_overlap(at, provenance);
  } else if (descends(provenance, owner)) {
    reject(provenance);
  } else if (descends(owner, provenance)) {
    reject(owner);
  } else if (const auto weaker = weaker_of(provenance, owner)) {
    reject(*weaker);
  } else {
    reject(provenance);
    reject(owner);
  }
}

/// A table that is certain, then code behind a call, then another table.
std::optional<RecursiveDescent::Provenance> RecursiveDescent::weaker_of(Provenance one,
                                                                        Provenance other) const {
  const auto weight = [this](Provenance of) {
    return !speculations_[of].is_table ? 1 : speculations_[of].is_certain ? 2 : 0;
  };
  if (weight(one) == weight(other)) {
    return std::nullopt;
  }
  return weight(one) < weight(other) ? one : other;
}

// Continues to where the code from `at` and the code that it overlaps meet again.
void RecursiveDescent::follow_overlap(Offset at, Provenance provenance) {
  if (!overlaps_.insert(at).second) {
    return;
  }
  const auto rest = is_behind_lock(at) && is_leader(at - 1) ? decode_at(at) : std::nullopt;
  if (rest && rest->flow == core::Flow::next && rest->length + 1 == length_at(at - 1)) {
    unlocked_.insert(at);
  } else {
    unmapped_.push_back(address_of(at));
  }
  constexpr int kMost = 8;
  for (int i = 0; i < kMost; ++i) {
    const auto instruction = decode_at(at);
    if (!instruction) {
      return;
    }
    record_transfer(at, *instruction, provenance);
    if (core::ends_block(instruction->flow) && instruction->flow != core::Flow::branch) {
      return;
    }
    at += instruction->length;
    if (at >= marks_.size()) {
      return;
    }
    if (is_instruction(at) || marks_[at] == 0) {
      add_leader(at, provenance);
      return;
    }
  }
}

// `provenance` leads to bytes that do not decode, or past the end of the function.
void RecursiveDescent::fail(Offset at, Provenance provenance) {
  if (provenance != 0) {
    reject(provenance);
  } else if (at >= marks_.size()) {
    transfers_.push_back(bounds_.end);
  } else {
    unmapped_.push_back(address_of(at));
  }
}

void RecursiveDescent::reject(Provenance provenance) {
  if (provenance != 0) {
    newly_rejected_.insert(speculations_[provenance].at);
  }
}

RecursiveDescent::Provenance RecursiveDescent::owner_of(Offset at) const {
  while (at > 0 && (marks_[at] & kRunStart) == 0) {
    --at;
  }
  const auto found = provenances_.find(at);
  return found == provenances_.end() ? Provenance{0} : found->second;
}

bool RecursiveDescent::descends(Provenance provenance, Provenance from) const {
  while (provenance > from) {  // parents have smaller numbers than their children
    provenance = speculations_[provenance].parent;
  }
  return provenance == from;
}

bool RecursiveDescent::is_behind_lock(Offset at) const {
  return at > 0 && is_instruction(at - 1) && code_[at - 1] == kLockPrefix;
}

}  // namespace sp::analyzer
