#include "analyzer/recursive_descent.h"

#include "arch/native.h"

namespace sp::analyzer {
namespace {

constexpr std::byte kLockPrefix{0xF0};

}  // namespace

CodeWalk::CodeWalk(core::AddressRange bounds, std::span<const std::byte> code,
                   const Rejected& rejected)
    : bounds_(bounds),
      code_(code),
      rejected_(rejected),
      marks_(bounds.size()),
      flows_(bounds.size(), core::Flow::next) {}

std::optional<core::Instruction> CodeWalk::decode_at(Offset at) const {
  if (at >= code_.size()) {
    return std::nullopt;
  }
  return arch::Native::decode(code_.subspan(at), address_of(at));
}

void CodeWalk::follow_leader(core::Address leader) {
  if (bounds_.contains(leader)) {
    lead(static_cast<Offset>(leader - bounds_.begin), 0);
    follow_certain();
  }
}

void CodeWalk::follow_table(Offset jump, std::span<const core::Address> destinations) {
  const auto root = static_cast<Root>(conjectures_.size());
  conjectures_.push_back({jump, owner_of(jump), true});
  for (const core::Address destination : destinations) {
    go_to(destination, jump, root);
  }
}

void CodeWalk::follow_certain() {
  while (!certain_.empty()) {
    const Task task = certain_.back();
    certain_.pop_back();
    follow(task);
  }
}

// What is certain comes first, so that a conjecture meets as much certain code as there is.
void CodeWalk::run() {
  while (true) {
    follow_certain();
    if (!likely_.empty()) {
      const Task task = likely_.back();
      likely_.pop_back();
      follow(task);
    } else if (next_behind_call_ < behind_calls_.size()) {
      conjecture(behind_calls_[next_behind_call_].at, behind_calls_[next_behind_call_].root);
      ++next_behind_call_;
    } else {
      return;
    }
  }
}

// Decodes from a leader until control goes elsewhere or comes to what is known.
void CodeWalk::follow(Task task) {
  Offset at = task.at;
  std::uint8_t role = kLeader | kRunStart;
  while (true) {
    if (is_instruction(at)) {
      marks_[at] |= kLeader;
      return;
    }
    const auto instruction = decode_at(at);
    if (!instruction || instruction->length > marks_.size() - at) {
      fail(at, task.root);
      return;
    }
    const Offset next = at + instruction->length;
    for (Offset k = at; k < next; ++k) {
      if (marks_[k] != 0) {
        clash(at, k, task.root);
        return;
      }
    }
    if ((role & kRunStart) != 0 && task.root != 0) {
      run_roots_.emplace(at, task.root);
    }
    keep(at, *instruction, role);
    leave(at, *instruction, task.root);
    if (core::ends_block(instruction->flow) && instruction->flow != core::Flow::branch) {
      return;
    }
    role = instruction->flow == core::Flow::branch ? kLeader : std::uint8_t{0};
    at = next;
  }
}

void CodeWalk::keep(Offset at, const core::Instruction& instruction, std::uint8_t role) {
  marks_[at] = static_cast<std::uint8_t>(instruction.length | role);
  for (Offset k = at + 1; k < at + instruction.length; ++k) {
    marks_[k] = kInside;
  }
  flows_[at] = instruction.flow;
}

// Notes where an instruction's control goes beside what stands behind it.
void CodeWalk::leave(Offset at, const core::Instruction& instruction, Root root) {
  if (instruction.target) {
    go_to(*instruction.target, at, root);
  }
  switch (instruction.flow) {
    case core::Flow::call:
    case core::Flow::indirect_call:
      behind_calls_.push_back({at + instruction.length, root});
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

void CodeWalk::go_to(core::Address target, Offset from, Root root) {
  if (!bounds_.contains(target)) {
    transfers_.push_back(target);
    return;
  }
  const auto at = static_cast<Offset>(target - bounds_.begin);
  edges_.push_back({at, from});
  lead(at, root);
}

void CodeWalk::lead(Offset at, Root root) {
  if (is_instruction(at)) {
    marks_[at] |= kLeader;
  } else if (root == 0) {
    certain_.push_back({at, root});
  } else {
    likely_.push_back({at, root});
  }
}

void CodeWalk::conjecture(Offset behind_call, Root parent) {
  if (behind_call >= marks_.size() || rejected_.contains(behind_call) ||
      newly_rejected_.contains(behind_call)) {
    return;
  }
  if (is_instruction(behind_call)) {
    marks_[behind_call] |= kLeader;
    return;
  }
  const auto root = static_cast<Root>(conjectures_.size());
  conjectures_.push_back({behind_call, parent, false});
  follow({behind_call, root});
}

// An instruction that `root` leads to begins at `at` and shares the byte `with` with one that was
// found before.
void CodeWalk::clash(Offset at, Offset with, Root root) {
  const Root owner = owner_of(with);
  if ((root == 0 && owner == 0) || is_behind_lock(at)) {
    overlap(at, root);
  } else if (descends(root, owner)) {
    reject(root);
  } else if (descends(owner, root)) {
    reject(owner);
  } else if (conjectures_[root].is_table != conjectures_[owner].is_table) {
    reject(conjectures_[root].is_table ? owner : root);
  } else {
    reject(root);
    reject(owner);
  }
}

// Goes on to where the code from `at` and the one that it overlaps are the same again.
void CodeWalk::overlap(Offset at, Root root) {
  if (!overlaps_.insert(at).second) {
    return;
  }
  unmapped_.push_back(address_of(at));
  constexpr int kMost = 8;
  for (int i = 0; i < kMost; ++i) {
    const auto instruction = decode_at(at);
    if (!instruction) {
      return;
    }
    leave(at, *instruction, root);
    if (core::ends_block(instruction->flow) && instruction->flow != core::Flow::branch) {
      return;
    }
    at += instruction->length;
    if (at >= marks_.size()) {
      return;
    }
    if (is_instruction(at) || marks_[at] == 0) {
      lead(at, root);
      return;
    }
  }
}

// What `root` leads to is no instruction, or lies behind the function.
void CodeWalk::fail(Offset at, Root root) {
  if (root != 0) {
    reject(root);
  } else if (at >= marks_.size()) {
    transfers_.push_back(bounds_.end);
  } else {
    unmapped_.push_back(address_of(at));
  }
}

void CodeWalk::reject(Root root) {
  if (root != 0) {
    newly_rejected_.insert(conjectures_[root].at);
  }
}

CodeWalk::Root CodeWalk::owner_of(Offset at) const {
  while (at > 0 && (marks_[at] & kRunStart) == 0) {
    --at;
  }
  const auto found = run_roots_.find(at);
  return found == run_roots_.end() ? Root{0} : found->second;
}

bool CodeWalk::descends(Root root, Root from) const {
  while (root > from) {  // a parent is older than what it led to
    root = conjectures_[root].parent;
  }
  return root == from;
}

bool CodeWalk::is_behind_lock(Offset at) const {
  return at > 0 && is_instruction(at - 1) && code_[at - 1] == kLockPrefix;
}

}  // namespace sp::analyzer
