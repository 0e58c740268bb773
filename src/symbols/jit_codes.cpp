#include "symbols/jit_codes.h"

#include <iterator>
#include <utility>

namespace sp::symbols {
namespace {

bool is_same(const JitCode& one, const JitCode& other) {
  const bool same_lines =
      one.lines == other.lines ||
      (one.lines != nullptr && other.lines != nullptr && *one.lines == *other.lines);
  return one.begin == other.begin && one.end == other.end && one.name == other.name && same_lines;
}

}  // namespace

const JitCode* JitCodes::first_within(const Generation& codes, const JitCode& range) {
  auto next = codes.lower_bound(range.begin);
  if (next != codes.begin() && std::prev(next)->second.end > range.begin) {
    --next;
  }
  return next != codes.end() && next->first < range.end ? &next->second : nullptr;
}

JitCodes::Hit JitCodes::add(JitCode code) {
  if (code.begin >= code.end) {
    return {};
  }
  std::size_t generation = generations_.size();
  for (; generation > 0; --generation) {
    if (const JitCode* older = first_within(generations_[generation - 1], code)) {
      if (is_same(*older, code)) {
        return {older, static_cast<std::uint32_t>(generation - 1)};
      }
      break;
    }
  }
  if (generation == kMaxGenerations) {
    Generation& last = generations_[--generation];
    while (const JitCode* older = first_within(last, code)) {
      last.erase(older->begin);
    }
  } else if (generation == generations_.size()) {
    generations_.emplace_back();
  }
  const std::uint64_t begin = code.begin;
  const auto added = generations_[generation].insert_or_assign(begin, std::move(code)).first;
  return {&added->second, static_cast<std::uint32_t>(generation)};
}

const JitCode* JitCodes::find_in(std::uint32_t generation, std::uint64_t address) const {
  if (generation >= generations_.size()) {
    return nullptr;
  }
  const Generation& codes = generations_[generation];
  const auto behind = codes.upper_bound(address);
  if (behind == codes.begin()) {
    return nullptr;
  }
  const JitCode& code = std::prev(behind)->second;
  return address < code.end ? &code : nullptr;
}

JitCodes::Hit JitCodes::find(std::uint64_t address, std::uint64_t time) const {
  Hit youngest;
  for (std::size_t above = generations_.size(); above > 0; --above) {
    const auto generation = static_cast<std::uint32_t>(above - 1);
    const JitCode* code = find_in(generation, address);
    if (code == nullptr) {
      continue;
    }
    if (code->time <= time) {
      return {code, generation};
    }
    if (youngest.code == nullptr) {
      youngest = {code, generation};
    }
  }
  return youngest;
}

std::size_t JitCodes::size() const {
  std::size_t count = 0;
  for (const Generation& codes : generations_) {
    count += codes.size();
  }
  return count;
}

}  // namespace sp::symbols
