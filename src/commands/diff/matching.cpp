#include "commands/diff/matching.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sp::diff {
namespace {

using Functions = std::vector<const FunctionNumbers*>;

bool is_there(const Functions& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const auto* run) { return run != nullptr; });
}

/// By name: the only function that has it, or null if several have.
using ByName = std::map<std::string_view, MatchedFunction*>;

void add(ByName& names, MatchedFunction& function) {
  const auto [place, is_new] = names.try_emplace(function.key.name, &function);
  if (!is_new) {
    place->second = nullptr;
  }
}

}  // namespace

std::vector<MatchedFunction> match(const std::vector<RunNumbers>& before,
                                   const std::vector<RunNumbers>& after) {
  std::map<FunctionKey, MatchedFunction> matched;
  const auto add_side = [&](const std::vector<RunNumbers>& runs, Functions MatchedFunction::*side) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (const auto& [key, numbers] : runs[i].functions) {
        MatchedFunction& function = matched[key];
        function.key = key;
        function.before.resize(before.size());
        function.after.resize(after.size());
        (function.*side)[i] = &numbers;
      }
    }
  };
  add_side(before, &MatchedFunction::before);
  add_side(after, &MatchedFunction::after);

  ByName gone;
  ByName come;
  for (auto& [key, function] : matched) {
    if (!is_there(function.after)) {
      add(gone, function);
    } else if (!is_there(function.before)) {
      add(come, function);
    }
  }
  for (const auto& [name, old] : gone) {
    const auto found = come.find(name);
    if (old != nullptr && found != come.end() && found->second != nullptr) {
      found->second->before = std::exchange(old->before, {});
    }
  }
  std::vector<MatchedFunction> functions;
  for (auto& [key, function] : matched) {
    if (is_there(function.before) || is_there(function.after)) {
      functions.push_back(std::move(function));
    }
  }
  return functions;
}

}  // namespace sp::diff
