#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/address.h"
#include "core/coverage.h"
#include "core/instruction.h"
#include "profiler/counted_span.h"
#include "profiler/namer.h"
#include "profiler/probed_profile.h"

namespace sp::profiler {

/// What was reached of some files' code: the source of coverage.tsv and of all formats of coverage.
struct CoverageTable {
  struct Module {
    std::string path;      // as the target sees it
    std::string build_id;  // or another ElfImage::identity(); "" if unknown
    core::ModuleId id{};   // of the run; of a table that was read: none

    bool operator==(const Module&) const = default;
  };
  /// A function: its name and its range in ELF addresses.
  struct Function {
    std::uint32_t module = 0;
    std::string name;
    std::uint64_t begin = 0;
    std::uint64_t size = 0;  // bytes
  };
  /// A basic block; or a function as a whole, where none of it was reached or only functions were
  /// looked at.
  struct Row {
    std::uint32_t function = 0;
    std::uint64_t offset = 0;  // ELF address
    std::uint64_t size = 0;    // bytes
    std::uint64_t hits = 0;    // 0: not reached; 1: reached, or the number of executions
    std::string kind;          // of `hits`: as in blocks.tsv, or "known" from an earlier run
    std::optional<std::uint64_t> first_us;  // since the run's start
    std::string source;                     // file:line of its first instruction; "" if unknown
    bool is_function = false;               // it stands for a function as a whole
    core::Flow flow = core::Flow::next;     // of its last instruction,
    std::optional<std::uint64_t> leads_to;  // and the ELF address that this leads to
    struct Ways {
      std::uint64_t continued = 0;
      std::uint64_t taken = 0;
    };
    std::optional<Ways> ways{};  // of a branch, if they were counted
  };

  std::vector<Module> modules;
  std::vector<Function> functions;
  std::vector<Row> rows;  // by module and offset; those of a function follow each other
  /// The time for which all that was not reached is known not to have been; "" if it was read.
  std::string unreached_kind{};
};

/// Whether only entries of functions were looked at, as --coverage=function does.
[[nodiscard]] bool is_of_functions(const CoverageTable& table);

struct CoverageTotals {
  std::uint64_t functions = 0;
  std::uint64_t entered = 0;
  std::uint64_t blocks = 0;  // of entered functions
  std::uint64_t reached = 0;
  bool only_functions = false;       // nothing is known of blocks
  std::uint64_t watched_partly = 0;  // blocks, or functions, that may have been reached later
  std::string kind;                  // CoverageTable::unreached_kind
};
[[nodiscard]] CoverageTotals totals_of(const CoverageTable& table);

/// Names what was reached, and what was not. A block that one process has executed as a part of a
/// larger one is reached.
/// `level`: what was looked at.
[[nodiscard]] CoverageTable coverage_table(const ProbedProfile& profile, Namer& namer,
                                           const CountsContext& context,
                                           core::Coverage level = core::Coverage::block);

}  // namespace sp::profiler
