#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "analyzer/recursive_descent.h"
#include "arch/jump_table.h"
#include "core/address.h"
#include "core/table_hints.h"

namespace sp::analyzer {

/// The destinations of an indirect jump, and its jump table.
struct ResolvedJump {
  std::vector<core::Address> destinations;  // each once, by address
  core::AddressRange table;
  /// No other data is known to begin within the table.
  bool is_whole = true;

  bool operator==(const ResolvedJump&) const = default;
};

/// What is known of a function's tables from all passes over it.
struct KnownTables {
  const core::TableHints* hints = nullptr;  // may be null
  std::set<core::Address> starts;
  /// Tables that were read too far, by their jumps: they end at the latest there.
  std::map<RecursiveDescent::Offset, core::Address> ends;
};

/// The destinations of all entries of a table, whatever they are; nothing if it cannot be read.
[[nodiscard]] std::optional<std::vector<core::Address>> read_entries(const arch::JumpTable& table,
                                                                     const ReadCode& read);

/// Reads the jump tables of one function.
class TableReader {
 public:
  /// All must outlive this.
  TableReader(const RecursiveDescent& descent, const ReadCode& read, const KnownTables& known);

  /// Without hints: nothing if an entry leads out of the function to where none of its direct jumps
  /// goes. With hints the table ends there, if it is certain that it ends somewhere.
  [[nodiscard]] std::optional<ResolvedJump> read(RecursiveDescent::Offset jump,
                                                 const arch::JumpTable& table) const;

 private:
  [[nodiscard]] core::AddressRange longest(RecursiveDescent::Offset jump,
                                           const arch::JumpTable& table) const;
  [[nodiscard]] bool may_lead_to(core::Address destination) const;
  /// The entry that ends there, and leads to that destination, is not the table's.
  [[nodiscard]] bool is_behind(core::Address first, core::Address end,
                               core::Address destination) const;

  const RecursiveDescent& descent_;
  const ReadCode& read_;
  const KnownTables& known_;
  std::unordered_set<core::Address> elsewhere_;
};

}  // namespace sp::analyzer
