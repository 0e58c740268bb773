#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/control_flow_graph.h"

namespace sp::analyzer {

/// Builds control-flow graphs, and keeps them: a function is asked for again when it gets a copy,
/// and in each process that runs the same program, at another address. A graph is used again only
/// where all that it was made of is the same, bytes and hints; one with indirect jumps, which may
/// use absolute addresses, only at the same place of a module. Runs on the ptrace thread.
class KnownGraphs {
 public:
  /// Keeps graphs of at most so many bytes; then all are forgotten.
  explicit KnownGraphs(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  /// build_control_flow_graph()'s, of a function in a module that is mapped at `bias`.
  [[nodiscard]] core::ControlFlowGraph map(core::AddressRange bounds, std::uint64_t bias,
                                           std::span<const core::Address> leaders,
                                           const ReadCode& read, const core::TableHints* hints);

  /// How often a graph was used again.
  [[nodiscard]] std::uint64_t reused() const { return reused_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  /// What was asked while a graph was made, and the answers. All addresses are relative to the
  /// function's begin.
  struct Known {
    struct Read {
      std::uint64_t at = 0;
      std::vector<std::byte> bytes;
    };
    struct LastData {
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      std::optional<std::uint64_t> answer;
    };
    struct Question {
      std::uint64_t at = 0;
      bool answer = false;
    };
    std::uint64_t place = 0;  // in the module
    bool has_indirect_jumps = false;
    bool has_hints = false;
    std::vector<std::uint64_t> leaders;
    std::vector<std::byte> code;
    std::vector<Read> reads;  // of tables
    std::vector<LastData> last_data;
    std::vector<Question> are_code;
    std::vector<Question> are_parts;
    core::ControlFlowGraph graph;

    [[nodiscard]] bool is_of(const Known& asked) const;
    /// The same answers are given at `begin`.
    [[nodiscard]] bool holds(core::Address begin, const ReadCode& read,
                             const core::TableHints* hints) const;
    [[nodiscard]] std::size_t size() const;
  };

  void keep(std::uint64_t key, Known known);

  // What a hint is made of may be asked of this, too.
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const Known>> graphs_;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_ = kMostBytes;
  std::uint64_t reused_ = 0;
};

}  // namespace sp::analyzer
