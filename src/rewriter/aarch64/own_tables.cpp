#include "rewriter/table_code.h"
#include "rewriter/table_plan.h"
#include "rewriter/table_writer.h"

// Copies of AArch64 code have no tables of their own: each entry leads to the original's landing.
namespace sp::rewriter {

std::vector<std::optional<PlannedTable>> plan_tables(const core::FunctionToCopy& /*function*/,
                                                     const CopyUnits& units,
                                                     const LiveState& /*live*/,
                                                     const core::CopyPlace& /*place*/,
                                                     std::uint64_t /*counters*/) {
  return std::vector<std::optional<PlannedTable>>(units.units.size());
}

std::optional<core::CopyRefusal> add_table_load(std::uint32_t /*unit*/,
                                                const PlannedTable& /*table*/,
                                                std::span<const cpu::SourceInstruction> /*sources*/,
                                                CopyWriter& /*writer*/) {
  return core::CopyRefusal::unmovable;
}

void add_table_jump(std::uint32_t /*unit*/, const PlannedTable& /*table*/, CopyWriter& /*writer*/) {
}

void add_setters(const PlannedTable& /*table*/, const CopyUnits& /*units*/,
                 CopyWriter& /*writer*/) {}

bool write_tables(const CopyCode& /*code*/, const CopyUnits& /*units*/,
                  std::span<const std::optional<PlannedTable>> /*planned*/,
                  const std::vector<std::uint32_t>& /*offsets*/, core::FunctionCopy& /*copy*/) {
  return true;
}

}  // namespace sp::rewriter
