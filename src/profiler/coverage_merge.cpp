#include "profiler/coverage_merge.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace sp::profiler {
namespace {

using Function = CoverageTable::Function;
using Module = CoverageTable::Module;
using Row = CoverageTable::Row;

/// A function as the runs saw it.
struct Seen {
  std::string name;
  std::uint64_t size = 0;
  std::vector<const Row*> rows;
};
using FunctionsByBegin = std::map<std::uint64_t, Seen>;

void take_better(Row& sum, const Row& row) {
  if (row.hits > 0 && sum.hits == 0) {
    sum.hits = row.hits;
    sum.kind = row.kind;
  } else if (row.hits > 0) {
    sum.hits = std::max(sum.hits, row.hits);
    sum.kind = sum.kind == "known" ? row.kind : sum.kind;
  } else if (sum.hits == 0 && sum.kind != row.kind) {
    sum.kind = sum.kind.empty() ? row.kind : "mixed";
  }
}

/// The function's code from `begin` to `end`, where no run begins a block in between.
Row piece(const Seen& function, std::uint64_t begin, std::uint64_t end) {
  Row sum{.function = 0,
          .offset = begin,
          .size = end - begin,
          .hits = 0,
          .kind = {},
          .first_us = std::nullopt,
          .source = {},
          .is_function = false,
          .flow = core::Flow::next,
          .leads_to = std::nullopt};
  for (const Row* row : function.rows) {
    if (begin < row->offset || begin >= row->offset + row->size) {
      continue;
    }
    take_better(sum, *row);
    if (row->offset == begin) {
      sum.source = row->source;
    }
    if (row->offset + row->size == end) {
      sum.flow = row->flow;
      sum.leads_to = row->leads_to;
    }
  }
  return sum;
}

std::vector<Row> rows_of(std::uint64_t begin, Seen& function) {
  const auto is_whole = [](const Row* row) { return row->is_function; };
  if (std::all_of(function.rows.begin(), function.rows.end(), is_whole)) {
    Row sum = piece(function, begin, begin + function.size);
    sum.is_function = true;
    return {sum};
  }
  // Where blocks are known the function as a whole says nothing but that it was entered.
  const bool was_entered =
      std::any_of(function.rows.begin(), function.rows.end(),
                  [](const Row* row) { return row->is_function && row->hits > 0; });
  std::erase_if(function.rows, is_whole);
  std::set<std::uint64_t> bounds;
  for (const Row* row : function.rows) {
    bounds.insert(row->offset);
    bounds.insert(row->offset + row->size);
  }
  std::vector<Row> rows;
  for (auto at = bounds.begin(); at != bounds.end() && std::next(at) != bounds.end(); ++at) {
    const bool is_code = std::any_of(
        function.rows.begin(), function.rows.end(),
        [&](const Row* row) { return row->offset <= *at && *at < row->offset + row->size; });
    if (is_code) {
      rows.push_back(piece(function, *at, *std::next(at)));
    }
  }
  if (was_entered && !rows.empty() && rows.front().offset == begin && rows.front().hits == 0) {
    rows.front().hits = 1;
    rows.front().kind = "exact";
  }
  return rows;
}

/// Does the work of merged().
class Merging {
 public:
  void add(const CoverageTable& run) {
    for (const Row& row : run.rows) {
      const Function& function = run.functions[row.function];
      Seen& seen = modules_[number_of(run.modules[function.module])][function.begin];
      seen.name = function.name;
      seen.size = std::max(seen.size, function.size);
      seen.rows.push_back(&row);
    }
  }

  MergedCoverage run() {
    MergedCoverage result;
    result.table.modules = known_;
    for (auto& [module, functions] : modules_) {
      for (auto& [begin, seen] : functions) {
        const auto function = static_cast<std::uint32_t>(result.table.functions.size());
        result.table.functions.push_back({module, seen.name, begin, seen.size});
        for (Row& row : rows_of(begin, seen)) {
          row.function = function;
          result.table.rows.push_back(std::move(row));
        }
      }
    }
    std::map<std::string, int> builds;
    for (const Module& module : known_) {
      if (++builds[module.path] == 2) {
        result.several_builds.push_back(module.path);
      }
    }
    return result;
  }

 private:
  std::uint32_t number_of(const Module& module) {
    const std::string& key = module.build_id.empty() ? module.path : module.build_id;
    const auto [entry, is_new] = numbers_.try_emplace({module.build_id.empty(), key},
                                                      static_cast<std::uint32_t>(known_.size()));
    if (is_new) {
      known_.push_back(module);
    }
    return entry->second;
  }

  std::map<std::pair<bool, std::string>, std::uint32_t> numbers_;
  std::vector<Module> known_;
  std::map<std::uint32_t, FunctionsByBegin> modules_;
};

}  // namespace

MergedCoverage merged(std::span<const CoverageTable> runs) {
  Merging merging;
  for (const CoverageTable& run : runs) {
    merging.add(run);
  }
  return merging.run();
}

}  // namespace sp::profiler
