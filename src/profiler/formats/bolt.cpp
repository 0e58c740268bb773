#include "profiler/formats/bolt.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string_view>
#include <unordered_map>

namespace sp::profiler {
namespace {

using core::EdgeFlow;
using Block = RecordedCode::Block;
using Edge = RecordedCode::Edge;
using BoltFunction = BoltCode::Function;
using Leader = BoltCode::Leader;

constexpr std::string_view kUnknown = "0 [unknown] 0";

/// BOLT ends a name at a blank; a backslash takes the next character as it is.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' || c == '\\' || c == '\n') {
      text += '\\';
    }
    text += c;
  }
  return text;
}

/// How control leaves a block by its last instruction.
bool is_branch(EdgeFlow flow) {
  return flow == EdgeFlow::jump || flow == EdgeFlow::taken || flow == EdgeFlow::indirect ||
         flow == EdgeFlow::call;
}

class Writer {
 public:
  Writer(std::ostream& out, const RecordedCode& counts, std::uint32_t module, const BoltCode& code)
      : out_(out), counts_(counts), module_(module), code_(code), state_(code.functions.size()) {
    for (const Block& block : counts.blocks) {
      if (counts.functions[block.function].module == module) {
        blocks_.push_back(&block);
      }
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block* a, const Block* b) { return a->offset < b->offset; });
  }

  BoltSums run() {
    leave_out_partial();
    for (const Edge& edge : counts_.edges) {
      write_edge(edge);
    }
    for (const Block* block : blocks_) {
      write_block(*block);
    }
    for (const State& state : state_) {
      sums_.functions += state.written ? 1 : 0;
      sums_.left_out += state.partial ? 1 : 0;
    }
    return sums_;
  }

 private:
  struct State {
    bool partial = false;  // not all of its edges were counted to the end
    bool written = false;
  };
  struct Place {
    std::size_t function = 0;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] std::optional<Place> place_of(std::uint32_t module, std::uint64_t address) const {
    if (module != module_) {
      return std::nullopt;
    }
    const auto behind = std::upper_bound(
        code_.functions.begin(), code_.functions.end(), address,
        [](std::uint64_t a, const BoltFunction& function) { return a < function.begin; });
    if (behind == code_.functions.begin() || address >= std::prev(behind)->end) {
      return std::nullopt;
    }
    const auto function = static_cast<std::size_t>(std::prev(behind) - code_.functions.begin());
    return Place{function, address - code_.functions[function].begin};
  }

  void leave_out_partial() {
    for (const Edge& edge : counts_.edges) {
      if (edge.until && edge.flow != EdgeFlow::entry) {
        if (const auto from = place_of(edge.from_module, edge.from)) {
          state_[from->function].partial = true;
        }
      }
    }
    for (const Block* block : blocks_) {
      if (block->until) {
        if (const auto place = place_of(module_, block->offset)) {
          state_[place->function].partial = true;
        }
      }
    }
  }

  /// The leader at `address`, if control may fall into it.
  [[nodiscard]] const Leader* leader_at(std::uint64_t address) const {
    const auto found =
        std::lower_bound(code_.leaders.begin(), code_.leaders.end(), address,
                         [](const Leader& leader, std::uint64_t a) { return leader.address < a; });
    return found != code_.leaders.end() && found->address == address ? &*found : nullptr;
  }

  void write_edge(const Edge& edge) {
    const auto to = place_of(edge.to_module, edge.to);
    const auto from =
        edge.flow == EdgeFlow::entry ? std::nullopt : place_of(edge.from_module, edge.from);
    if (to && edge.flow != EdgeFlow::ret) {
      came_[edge.to] += edge.hits;
    }
    if (edge.flow == EdgeFlow::ret || (!from && (!to || to->offset != 0))) {
      return;
    }
    if (edge.flow == EdgeFlow::fallthrough) {
      write_fallthrough(edge.from, edge.to, edge.hits);
      return;
    }
    // A call to the next instruction, to get its address, is no branch for BOLT.
    const bool inside = from && to && from->function == to->function;
    if (!inside || edge.flow != EdgeFlow::call || to->offset == 0) {
      if (!from || is_branch(edge.flow)) {
        write_line(from, to, edge.hits);
      }
    }
  }

  void write_fallthrough(std::uint64_t from, std::uint64_t to, std::uint64_t hits) {
    const Leader* const leader = leader_at(to);
    // The block may end with nops, behind the instruction that BOLT takes for its end, or be
    // nothing but nops.
    if (leader != nullptr && leader->before <= from && !leader->behind_call) {
      const Block* const block = block_with(from);
      if (from == leader->before || (block != nullptr && block->offset <= leader->before)) {
        write_line(place_of(module_, leader->before), place_of(module_, to), hits);
      }
    }
  }

  [[nodiscard]] const Block* block_with(std::uint64_t address) const {
    const auto behind =
        std::upper_bound(blocks_.begin(), blocks_.end(), address,
                         [](std::uint64_t a, const Block* block) { return a < block->offset; });
    return behind == blocks_.begin() ||
                   address - (*std::prev(behind))->offset >= (*std::prev(behind))->size
               ? nullptr
               : *std::prev(behind);
  }

  /// What edges do not say: entries from code that was not counted, returns to a block's first
  /// instruction, which BOLT takes for a fall-through from the call, and blocks that only a branch
  /// that was never taken begins.
  void write_block(const Block& block) {
    const auto place = place_of(module_, block.offset);
    if (!place) {
      return;
    }
    const auto found = came_.find(block.offset);
    const std::uint64_t came = found == came_.end() ? 0 : found->second;
    const std::uint64_t rest = block.hits > came ? block.hits - came : 0;
    const Leader* const first = leader_at(block.offset);
    if (place->offset == 0) {
      write_line(std::nullopt, place, rest);
    } else if (first != nullptr && first->behind_call) {
      write_line(place_of(module_, first->before), place, rest);
    }
    auto leader = std::upper_bound(
        code_.leaders.begin(), code_.leaders.end(), block.offset,
        [](std::uint64_t address, const Leader& other) { return address < other.address; });
    for (; leader != code_.leaders.end() && leader->address < block.offset + block.size; ++leader) {
      if (leader->before >= block.offset) {
        write_line(place_of(module_, leader->before), place_of(module_, leader->address),
                   block.hits);
      }
    }
  }

  [[nodiscard]] std::string text_of(const std::optional<Place>& place) const {
    if (!place || state_[place->function].partial) {
      return std::string(kUnknown);
    }
    const BoltFunction& function = code_.functions[place->function];
    return fmt::format("{} {} {:x}", function.local ? 2 : 1, escaped(function.name), place->offset);
  }

  void write_line(const std::optional<Place>& from, const std::optional<Place>& to,
                  std::uint64_t hits) {
    const std::string source = text_of(from);
    const std::string destination = text_of(to);
    if (hits == 0 || (source == kUnknown && destination == kUnknown)) {
      return;
    }
    fmt::print(out_, "{} {} 0 {}\n", source, destination, hits);
    ++sums_.branches;
    for (const auto& place : {from, to}) {
      if (place && !state_[place->function].partial) {
        state_[place->function].written = true;
      }
    }
  }

  std::ostream& out_;
  const RecordedCode& counts_;
  std::uint32_t module_;
  const BoltCode& code_;
  std::vector<State> state_;                               // by function
  std::vector<const Block*> blocks_;                       // of the module, by offset
  std::unordered_map<std::uint64_t, std::uint64_t> came_;  // by address: other than by returns
  BoltSums sums_;
};

}  // namespace

BoltSums write_bolt(std::ostream& out, const RecordedCode& counts, std::uint32_t module,
                    const BoltCode& code) {
  return Writer(out, counts, module, code).run();
}

}  // namespace sp::profiler
