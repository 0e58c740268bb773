#include "supervisor/instruments/probes/call_table.h"

#include <fmt/format.h>

#include <utility>

namespace sp::supervisor {
namespace {

/// No value has a 0 in it.
void append_text(std::string& key, const std::string& text) {
  key += text;
  key += '\0';
}

}  // namespace

std::uint32_t CallTable::begin(Beginning beginning) {
  std::string key =
      fmt::format("{:x} {:x} {} {} ", beginning.function.value(), beginning.caller.value(),
                  beginning.thread.tid, beginning.thread.serial);
  for (const std::string& value : beginning.values) {
    append_text(key, value);
  }
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) {
    return known->second;
  }
  if (beginnings_.size() >= kMost) {
    return kUngrouped;
  }
  const auto number = static_cast<std::uint32_t>(beginnings_.size());
  numbers_.emplace(std::move(key), number);
  beginnings_.push_back(std::move(beginning));
  return number;
}

CallTable::Group* CallTable::group_of(std::uint32_t number, std::span<const std::string> results) {
  std::string key = fmt::format("{:x} ", number);
  for (const std::string& result : results) {
    append_text(key, result);
  }
  const auto known = group_numbers_.find(key);
  if (known != group_numbers_.end()) {
    return &groups_[known->second];
  }
  if (groups_.size() >= kMost) {
    return nullptr;
  }
  group_numbers_.emplace(std::move(key), static_cast<std::uint32_t>(groups_.size()));
  groups_.push_back(
      {number, {results.begin(), results.end()}, 0, 0, core::ValueHistogram(is_signed_)});
  return &groups_.back();
}

void CallTable::count(std::uint32_t number, const Ending& ending) {
  if (number == kNone) {
    return;
  }
  has_news_ = true;
  Group* const group = number == kUngrouped ? nullptr : group_of(number, ending.results);
  if (group == nullptr) {
    ++ungrouped_;
    return;
  }
  ++group->calls;
  group->tail_calls += ending.is_tail_call ? 1 : 0;
  if (ending.measured) {
    group->measured.add(*ending.measured);
  }
}

core::CallGroups<core::Address> CallTable::take() {
  core::CallGroups<core::Address> taken;
  taken.ungrouped = std::exchange(ungrouped_, 0);
  for (Group& group : groups_) {
    if (group.calls == 0) {
      continue;
    }
    const Beginning& beginning = beginnings_[group.beginning];
    core::CallGroup<core::Address> told{
        beginning.function,
        beginning.values,
        beginning.caller,
        beginning.thread,
        std::exchange(group.calls, 0),
        std::exchange(group.tail_calls, 0),
        std::exchange(group.measured, core::ValueHistogram(is_signed_))};
    for (std::size_t i = 0; i < open_.size() && i < group.results.size(); ++i) {
      told.values[open_[i]] = group.results[i];
    }
    taken.groups.push_back(std::move(told));
  }
  has_news_ = false;
  return taken;
}

}  // namespace sp::supervisor
