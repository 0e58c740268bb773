#include "commands/top/live_profile.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <variant>

#include "profiler/named_code.h"
#include "profiler/named_profile.h"

namespace sp::top {
namespace {

using Sort = cli::Sort;

bool comes_before(const Row& a, const Row& b, Sort sort) {
  const auto rank = [sort](const Row& row) {
    const double calls = row.calls_per_second.value_or(-1);
    const auto self = static_cast<double>(row.self);
    const auto total = static_cast<double>(row.total);
    return sort == Sort::self    ? std::tuple(self, total, calls)
           : sort == Sort::total ? std::tuple(total, self, calls)
                                 : std::tuple(calls, self, total);
  };
  const auto of_a = rank(a);
  const auto of_b = rank(b);
  return of_a != of_b ? of_a > of_b
                      : std::tie(a.function, a.module) < std::tie(b.function, b.module);
}

}  // namespace

LiveProfile::LiveProfile(profiler::Namer& namer, bool counts_calls)
    : namer_(namer), counts_calls_(counts_calls) {
  begin_interval(core::Clock::now());
}

void LiveProfile::begin_interval(core::TimePoint now) {
  profile_ = std::make_unique<profiler::Profile>(false);
  for (const core::Module& module : modules_) {
    profile_->add(core::ModuleSeen{module});
  }
  began_ = now;
}

void LiveProfile::add(core::Record&& record) {
  std::visit(
      [this](const auto& detail) {
        using Detail = std::decay_t<decltype(detail)>;
        if constexpr (std::is_same_v<Detail, core::ProbeCountsTaken>) {
          probed_.add(detail);
        } else if constexpr (std::is_same_v<Detail, core::ModuleSeen>) {
          namer_.add_module(detail.module);
          modules_.push_back(detail.module);
          profile_->add(detail);
        } else if constexpr (std::is_same_v<Detail, core::SampleTaken> ||
                             std::is_same_v<Detail, core::SamplesLost>) {
          profile_->add(detail);
        }
      },
      record);
}

LiveProfile::Calls LiveProfile::calls_so_far() {
  Calls calls;
  if (!counts_calls_) {
    return calls;
  }
  const profiler::NamedCode code = profiler::name_code(probed_, {}, namer_, 0);
  std::map<core::ModuleId, std::string> paths;
  for (const core::Module& module : modules_) {
    paths.emplace(module.id, module.path);
  }
  for (const profiler::CodeFunction& function : code.functions) {
    const auto& [since, until] = function.calls_span;
    Counted& counted = calls[{paths[function.module], function.name}];
    counted.calls += function.calls;
    counted.is_whole =
        counted.is_whole && function.has_calls && !until && (!since || *since <= began_);
  }
  return calls;
}

Table LiveProfile::take_table(core::TimePoint now, Sort sort) {
  profiler::NamedProfile named = profiler::name_profile(*profile_, namer_);
  Calls calls = calls_so_far();
  Table table{{}, named.counts, now - began_};
  const double seconds = std::max(core::seconds(table.interval), 1e-6);
  Calls unseen = calls;
  const auto rate = [&](const Calls::value_type& one) {
    const auto before = calls_.find(one.first);
    const std::uint64_t had = before == calls_.end() ? 0 : before->second.calls;
    return static_cast<double>(one.second.calls - std::min(had, one.second.calls)) / seconds;
  };
  for (profiler::Function& function : named.functions) {
    if (!profiler::has_row(function.kind)) {
      continue;
    }
    Row row{std::move(function.name), std::move(function.module), function.self, function.total,
            std::nullopt};
    if (const auto counted = calls.find({row.module, row.function}); counted != calls.end()) {
      if (counted->second.is_whole) {
        row.calls_per_second = rate(*counted);
      }
      unseen.erase(counted->first);
    }
    if (row.total > 0 || row.self > 0 || row.calls_per_second) {
      table.rows.push_back(std::move(row));
    }
  }
  for (const auto& one : unseen) {
    if (const double per_second = one.second.is_whole ? rate(one) : 0; per_second > 0) {
      table.rows.push_back({one.first.second, one.first.first, 0, 0, per_second});
    }
  }
  std::sort(table.rows.begin(), table.rows.end(),
            [sort](const Row& a, const Row& b) { return comes_before(a, b, sort); });
  calls_ = std::move(calls);
  begin_interval(now);
  return table;
}

}  // namespace sp::top
