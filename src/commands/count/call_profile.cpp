#include "commands/count/call_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "profiler/text.h"

namespace sp::count {
namespace {

/// "main+0x1c (x.c:12)"; in code of an inlined function "main+0x1c (f, x.c:12)".
std::string caller_text(const std::vector<symbols::NamedFrame>& frames, std::uint64_t offset) {
  const symbols::NamedFrame& function = frames.back();
  const symbols::NamedFrame& innermost = frames.front();
  std::string text = fmt::format("{}+{:#x}", profiler::folded_name(function.function),
                                 offset - std::min(function.start, offset));
  if (innermost.source) {
    text += fmt::format(" ({}{}:{})",
                        frames.size() > 1 ? profiler::folded_name(innermost.function) + ", " : "",
                        profiler::base_name(innermost.source->file), innermost.source->line);
  }
  return text;
}

}  // namespace

CallProfile::CallProfile(core::CallQuery query, profiler::Namer& namer, Name name)
    : query_(std::move(query)),
      namer_(namer),
      name_(std::move(name)),
      started_(core::Clock::now()),
      began_(started_) {}

void CallProfile::add(core::Record&& record) {
  std::visit(
      [this](const auto& detail) {
        using Detail = std::decay_t<decltype(detail)>;
        if constexpr (std::is_same_v<Detail, core::ProbeCountsTaken>) {
          probed_.add(detail);
        } else if constexpr (std::is_same_v<Detail, core::CallCountsTaken>) {
          add(detail);
        } else if constexpr (std::is_same_v<Detail, core::ModuleSeen>) {
          namer_.add_module(detail.module);
          modules_.insert_or_assign(detail.module.id, detail.module);
        } else if constexpr (std::is_same_v<Detail, core::ThreadSeen>) {
          if (!detail.name.empty()) {
            threads_.insert_or_assign(detail.thread, detail.name);
          }
        }
      },
      record);
}

void CallProfile::add(const core::CallCountsTaken& taken) {
  ungrouped_ += taken.calls.ungrouped;
  for (const auto& told : taken.calls.groups) {
    add(groups_, told);
    add(interval_, told);
  }
}

void CallProfile::add(Groups& groups, const core::CallGroup<core::ModuleOffset>& told) {
  GroupKey key{told.function, told.caller, told.thread, told.values};
  auto group = groups.find(key);
  if (group == groups.end()) {
    if (groups.size() >= kMostGroups) {
      ungrouped_ += &groups == &groups_ ? told.calls : 0;
      return;
    }
    group = groups.emplace(std::move(key), Group{}).first;
  }
  group->second.calls += told.calls;
  group->second.tail_calls += told.tail_calls;
  group->second.measured.add(told.measured);
}

std::optional<CountedName> CallProfile::name_of(core::ModuleOffset where) const {
  const auto module = modules_.find(where.module);
  return module == modules_.end() ? std::nullopt : name_(module->second, where.offset);
}

/// A function's calls are the executions of its first block less the jumps there from itself.
CallProfile::Functions CallProfile::functions_so_far() const {
  Functions functions;
  for (const profiler::ProbedProfile::Block& block : probed_.blocks()) {
    auto name = name_of(block.start);
    if (!name) {
      continue;
    }
    const auto [known, is_new] = functions.try_emplace({name->module, name->function});
    Function& function = known->second;
    const profiler::CountedSpan span{block.since, block.until};
    function.span = is_new ? span : profiler::shared(function.span, span);
    function.name = *std::move(name);
    function.calls += block.hits;
    function.is_known = function.is_known && !block.is_jumped_to;
  }
  return functions;
}

GroupRow CallProfile::row_of(const GroupKey& key, const Group& group) {
  GroupRow row{key.values, {}, {}, group.calls, group.tail_calls, group.measured};
  if (query_.by_caller) {
    row.caller = caller_text(namer_.name(key.caller, true), key.caller.offset);
  }
  if (query_.by_thread) {
    const auto name = threads_.find(key.thread);
    row.thread =
        fmt::format("{} ({})", name == threads_.end() ? "?" : profiler::folded_name(name->second),
                    key.thread.tid);
  }
  return row;
}

Table CallProfile::table(const Functions& functions, const Functions* before, const Groups& groups,
                         core::TimePoint since, core::TimePoint now) {
  std::map<std::pair<std::string, std::string>, FunctionRow> rows;
  for (const auto& [key, function] : functions) {
    const auto earlier = before != nullptr ? before->find(key) : Functions::const_iterator{};
    const bool has_earlier = before != nullptr && earlier != before->end();
    const std::uint64_t had = has_earlier ? earlier->second.calls : 0;
    FunctionRow& row = rows[key];
    row.calls = row.all_calls = function.calls - std::min(had, function.calls);
    row.is_known = function.is_known;
    row.span = function.span;
  }
  const bool has_conditions = !query_.conditions.empty();
  for (auto& [key, row] : rows) {
    row.module = key.first;
    row.function = key.second;
    row.calls = has_conditions ? 0 : row.calls;
  }
  for (const auto& [key, group] : groups) {
    const auto name = name_of(key.function);
    const auto row = name ? rows.find({name->module, name->function}) : rows.end();
    if (row != rows.end()) {
      row->second.calls += has_conditions ? group.calls : 0;
      row->second.groups.push_back(row_of(key, group));
    }
  }
  Table table{{}, now - since, ungrouped_};
  for (auto& [key, row] : rows) {
    std::stable_sort(row.groups.begin(), row.groups.end(),
                     [](const GroupRow& a, const GroupRow& b) { return a.calls > b.calls; });
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const FunctionRow& a, const FunctionRow& b) { return a.calls > b.calls; });
  return table;
}

Table CallProfile::take_interval(core::TimePoint now) {
  Functions functions = functions_so_far();
  Table taken = table(functions, &before_, interval_, began_, now);
  before_ = std::move(functions);
  interval_.clear();
  began_ = now;
  return taken;
}

Table CallProfile::whole(core::TimePoint now) {
  return table(functions_so_far(), nullptr, groups_, started_, now);
}

}  // namespace sp::count
