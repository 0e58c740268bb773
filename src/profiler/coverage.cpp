#include "profiler/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sp::profiler {
namespace {

using Block = ProbedProfile::Block;
using Bounds = core::CoverableFunction<core::ModuleOffset>;
using core::ModuleOffset;

/// Does the work of coverage_table().
class CoverageNaming {
 public:
  CoverageNaming(const ProbedProfile& profile, Namer& namer, const CountsContext& context,
                 core::Coverage level)
      : namer_(namer),
        context_(context),
        are_functions_(level == core::Coverage::function),
        functions_(profile.functions()) {
    for (const Block& block : profile.blocks()) {
      blocks_.push_back(&block);
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block* a, const Block* b) { return a->start < b->start; });
    std::sort(functions_.begin(), functions_.end(), [](const Bounds& a, const Bounds& b) {
      // Of those told twice the one comes first that was seen for a shorter time.
      constexpr core::TimePoint kEver = core::TimePoint::max();
      return std::pair(a.start, a.until.value_or(kEver)) <
             std::pair(b.start, b.until.value_or(kEver));
    });
    functions_.erase(
        std::unique(functions_.begin(), functions_.end(),
                    [](const Bounds& a, const Bounds& b) { return a.start == b.start; }),
        functions_.end());
  }

  CoverageTable run() {
    auto block = blocks_.begin();
    for (const Bounds& bounds : functions_) {
      for (; block != blocks_.end() && (*block)->start < bounds.start; ++block) {
        add_outside(**block);
      }
      if (block == blocks_.end() || !is_in((*block)->start, bounds)) {
        const std::uint32_t function = add_function(bounds.start, bounds.size);
        table_.rows.push_back({.function = function,
                               .offset = bounds.start.offset,
                               .size = bounds.size,
                               .hits = 0,
                               .kind = unreached({.until = bounds.until}),
                               .first_us = std::nullopt,
                               .source = source_of(bounds.start),
                               .is_function = true,
                               .leads_to = std::nullopt});
        continue;
      }
      const std::uint32_t function = add_function(bounds.start, bounds.size);
      for (; block != blocks_.end() && is_in((*block)->start, bounds); ++block) {
        add(**block, function);
      }
    }
    for (; block != blocks_.end(); ++block) {
      add_outside(**block);
    }
    table_.unreached_kind = context_.kind(watched_);
    return std::move(table_);
  }

 private:
  static bool is_in(ModuleOffset where, const Bounds& bounds) {
    return where.module == bounds.start.module && where.offset >= bounds.start.offset &&
           where.offset - bounds.start.offset < bounds.size;
  }

  std::uint32_t add_function(ModuleOffset start, std::uint64_t size) {
    const symbols::NamedFrame& frame = namer_.name(start, false).back();
    table_.functions.push_back({module_of(start.module), frame.function, start.offset, size});
    return static_cast<std::uint32_t>(table_.functions.size() - 1);
  }

  /// Code in no function of the file's symbols and unwind tables, such as a linker's stub.
  void add_outside(const Block& block) {
    const symbols::NamedFrame frame = namer_.name(block.start, false).back();
    const std::uint32_t module = module_of(block.start.module);
    if (table_.functions.empty() || table_.functions.back().module != module ||
        table_.functions.back().begin != frame.start) {
      table_.functions.push_back({module, frame.function, frame.start, 0});
    }
    CoverageTable::Function& function = table_.functions.back();
    function.size = std::max(function.size, block.start.offset + block.size - frame.start);
    add(block, static_cast<std::uint32_t>(table_.functions.size() - 1));
  }

  void add(const Block& block, std::uint32_t function) {
    CoverageTable::Row row{.function = function,
                           .offset = block.start.offset,
                           .size = block.size,
                           .hits = 0,
                           .kind = {},
                           .first_us = std::nullopt,
                           .source = source_of(block.start),
                           .is_function = are_functions_,
                           .flow = block.flow,
                           .leads_to = std::nullopt};
    if (block.leads_to) {
      row.leads_to = block.start.offset + static_cast<std::uint64_t>(*block.leads_to);
    }
    std::optional<core::TimePoint> first;
    if (block.hits > 0) {
      first = block.first_hit;
    }
    if (const auto wide = executed_within_larger(block); wide && (!first || *wide < *first)) {
      first = wide;
    }
    row.hits = first || block.is_known ? 1 : 0;
    if (first) {
      row.first_us = static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, core::microseconds(*first - context_.started)));
    }
    // That code was reached is certain; that it was not, for as long as that would have been seen.
    row.kind = first ? "exact" : block.is_known ? "known" : unreached({block.since, block.until});
    table_.rows.push_back(std::move(row));
    if (block.wide_hit) {
      larger_ = &block;
    }
  }

  std::string unreached(const CountedSpan& span) {
    watched_ = shared(watched_, span);
    return context_.kind(span);
  }

  /// When a process has last executed the block as a part of a larger one.
  [[nodiscard]] std::optional<core::TimePoint> executed_within_larger(const Block& block) const {
    const bool is_within = larger_ != nullptr && larger_->start.module == block.start.module &&
                           block.start.offset - larger_->start.offset < larger_->widest;
    return is_within ? larger_->wide_hit : std::nullopt;
  }

  std::uint32_t module_of(core::ModuleId id) {
    if (id == last_module_) {
      return last_number_;
    }
    const auto [entry, is_new] =
        modules_.try_emplace(id, static_cast<std::uint32_t>(table_.modules.size()));
    if (is_new) {
      const auto known = std::find_if(context_.modules.begin(), context_.modules.end(),
                                      [id](const core::Module& module) { return module.id == id; });
      table_.modules.push_back(
          known == context_.modules.end()
              ? CoverageTable::Module{"[unknown]", "", id}
              : CoverageTable::Module{
                    known->path,
                    known->image == nullptr ? known->build_id : known->image->identity(), id});
      have_lines_.push_back(namer_.has_lines(id));
    }
    last_module_ = id;
    return last_number_ = entry->second;
  }

  [[nodiscard]] std::string source_of(ModuleOffset where) {
    if (!have_lines_[module_of(where.module)]) {
      return {};
    }
    const auto& source = namer_.name(where, false).front().source;
    return source ? fmt::format("{}:{}", source->file, source->line) : std::string();
  }

  Namer& namer_;
  const CountsContext& context_;
  bool are_functions_;
  std::vector<Bounds> functions_;     // by start
  std::vector<const Block*> blocks_;  // by start
  const Block* larger_ = nullptr;
  CountedSpan watched_;
  std::map<core::ModuleId, std::uint32_t> modules_;
  std::vector<bool> have_lines_;               // by their numbers in the table
  std::optional<core::ModuleId> last_module_;  // that was asked for
  std::uint32_t last_number_ = 0;
  CoverageTable table_;
};

}  // namespace

bool is_of_functions(const CoverageTable& table) {
  // A function that was not entered is one row in any case.
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [](const CoverageTable::Row& row) { return row.is_function; }) &&
         std::any_of(table.rows.begin(), table.rows.end(),
                     [](const CoverageTable::Row& row) { return row.hits > 0; });
}

CoverageTotals totals_of(const CoverageTable& table) {
  CoverageTotals totals;
  totals.functions = table.functions.size();
  totals.only_functions = is_of_functions(table);
  totals.kind = table.unreached_kind;
  for (auto row = table.rows.begin(); row != table.rows.end();) {
    std::uint64_t blocks = 0;
    std::uint64_t reached = 0;
    const std::uint32_t function = row->function;
    for (; row != table.rows.end() && row->function == function; ++row) {
      ++blocks;
      reached += row->hits > 0 ? 1 : 0;
      const bool ended = row->hits == 0 && row->kind.find("until:") != std::string::npos;
      totals.watched_partly += ended ? 1 : 0;
    }
    if (reached > 0) {
      ++totals.entered;
      totals.blocks += blocks;
      totals.reached += reached;
    }
  }
  return totals;
}

CoverageTable coverage_table(const ProbedProfile& profile, Namer& namer,
                             const CountsContext& context, core::Coverage level) {
  return CoverageNaming(profile, namer, context, level).run();
}

}  // namespace sp::profiler
