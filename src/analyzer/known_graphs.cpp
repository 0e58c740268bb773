#include "analyzer/known_graphs.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace sp::analyzer {
namespace {

using core::Address;
using core::ControlFlowGraph;

/// What a graph says of `from` holds of the same bytes at `to`.
ControlFlowGraph moved(ControlFlowGraph graph, Address from, Address to) {
  const std::uint64_t by = to.value() - from.value();
  const auto move = [by](Address& at) { at = Address{at.value() + by}; };
  for (core::BasicBlock& block : graph.blocks) {
    move(block.start);
    move(block.last.address);
    if (block.last.target) {
      move(*block.last.target);
    }
  }
  std::map<core::BranchTable::Destinations, core::BranchTable::Destinations> entries;
  for (core::BranchTable& table : graph.tables) {
    move(table.jump);
    move(table.load);
    move(table.first);
    core::BranchTable::Destinations& there = entries[table.destinations];
    if (there == nullptr) {
      auto destinations = *table.destinations;
      constexpr std::uint8_t kAddress = 8;  // the same bytes are the same places
      if (table.entry_size != kAddress) {
        std::for_each(destinations.begin(), destinations.end(), move);
      }
      there = std::make_shared<const std::vector<Address>>(std::move(destinations));
    }
    table.destinations = there;
  }
  for (auto* const list :
       {&graph.unresolved, &graph.transfers, &graph.table_destinations, &graph.unmapped}) {
    std::for_each(list->begin(), list->end(), move);
    std::sort(list->begin(), list->end());  // relative addresses in front of the function wrap
  }
  return graph;
}

bool has_indirect_jumps(const ControlFlowGraph& graph) {
  return std::any_of(graph.blocks.begin(), graph.blocks.end(), [](const core::BasicBlock& block) {
    return block.last.flow == core::Flow::indirect_jump;
  });
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t key_of(std::span<const std::uint64_t> leaders, std::span<const std::byte> code) {
  const std::hash<std::string_view> hash;
  return hash(text_of(std::as_bytes(leaders))) ^ (hash(text_of(code)) << 1U);
}

std::size_t size_of(const ControlFlowGraph& graph) {
  constexpr std::size_t kOfLengths = 32;  // of an allocation
  std::size_t size = 0;
  for (const core::BasicBlock& block : graph.blocks) {
    size += sizeof block + kOfLengths + block.lengths.size();
  }
  for (const core::BranchTable& table : graph.tables) {
    size += sizeof table + table.destinations->size() * sizeof(Address);  // most are shared
  }
  return size + sizeof(Address) * (graph.unresolved.size() + graph.transfers.size() +
                                   graph.table_destinations.size() + graph.unmapped.size());
}

}  // namespace

bool KnownGraphs::Known::is_of(const Known& asked) const {
  return leaders == asked.leaders && (place == asked.place || !has_indirect_jumps) &&
         (has_hints == asked.has_hints || !has_indirect_jumps) && code == asked.code;
}

bool KnownGraphs::Known::holds(Address begin, const ReadCode& read,
                               const core::TableHints* hints) const {
  const auto is_same = [&](const Read& table) {
    std::vector<std::byte> now(table.bytes.size());
    return read(begin + table.at, now) == now.size() && now == table.bytes;
  };
  const auto has_same_data = [&](const LastData& data) {
    const auto now = hints->last_data_in({begin + data.begin, begin + data.end});
    return now.has_value() == data.answer.has_value() && (!now || *now == begin + *data.answer);
  };
  return std::all_of(reads.begin(), reads.end(), is_same) &&
         std::all_of(last_data.begin(), last_data.end(), has_same_data) &&
         std::all_of(
             are_code.begin(), are_code.end(),
             [&](const Question& one) { return hints->is_code(begin + one.at) == one.answer; }) &&
         std::all_of(are_parts.begin(), are_parts.end(), [&](const Question& one) {
           return hints->is_part(begin + one.at) == one.answer;
         });
}

std::size_t KnownGraphs::Known::size() const {
  std::size_t size = sizeof *this + code.size() + size_of(graph) +
                     leaders.size() * sizeof(std::uint64_t) + last_data.size() * sizeof(LastData) +
                     (are_code.size() + are_parts.size()) * sizeof(Question);
  for (const Read& table : reads) {
    size += sizeof table + table.bytes.size();
  }
  return size;
}

ControlFlowGraph KnownGraphs::map(core::AddressRange bounds, std::uint64_t bias,
                                  std::span<const Address> leaders, const ReadCode& read,
                                  const core::TableHints* hints) {
  if (bounds.end <= bounds.begin || bounds.size() > kLargestFunction) {
    return {};
  }
  const auto relative = [begin = bounds.begin](Address at) { return at.value() - begin.value(); };
  Known fresh;
  fresh.place = bounds.begin.value() - bias;
  fresh.has_hints = hints != nullptr;
  std::transform(leaders.begin(), leaders.end(), std::back_inserter(fresh.leaders), relative);
  fresh.code.resize(bounds.size());
  fresh.code.resize(std::min(fresh.code.size(), read(bounds.begin, fresh.code)));
  const std::uint64_t key = key_of(fresh.leaders, fresh.code);
  std::vector<std::shared_ptr<const Known>> alike;
  for (auto [at, last] = graphs_.equal_range(key); at != last; ++at) {
    alike.push_back(at->second);
  }
  for (const auto& known : alike) {
    if (known->is_of(fresh) && known->holds(bounds.begin, read, hints)) {
      ++reused_;
      return moved(known->graph, {}, bounds.begin);
    }
  }
  const ReadCode noted_read = [&](Address from, std::span<std::byte> into) {
    if (from == bounds.begin && into.size() == bounds.size()) {
      std::copy(fresh.code.begin(), fresh.code.end(), into.begin());
      return fresh.code.size();
    }
    const auto bytes = into.first(std::min(into.size(), read(from, into)));
    fresh.reads.push_back({relative(from), {bytes.begin(), bytes.end()}});
    return bytes.size();
  };
  core::TableHints noted_hints;
  if (hints != nullptr) {
    noted_hints.last_data_in = [&](core::AddressRange range) {
      const auto data = hints->last_data_in(range);
      fresh.last_data.push_back({relative(range.begin), relative(range.end), {}});
      if (data) {
        fresh.last_data.back().answer = relative(*data);
      }
      return data;
    };
    noted_hints.is_code = [&](Address at) {
      fresh.are_code.push_back({relative(at), hints->is_code(at)});
      return fresh.are_code.back().answer;
    };
    noted_hints.is_part = [&](Address at) {
      fresh.are_parts.push_back({relative(at), hints->is_part(at)});
      return fresh.are_parts.back().answer;
    };
  }
  ControlFlowGraph graph = build_control_flow_graph(bounds, leaders, noted_read,
                                                    hints != nullptr ? &noted_hints : nullptr);
  fresh.has_indirect_jumps = has_indirect_jumps(graph);
  fresh.graph = moved(graph, bounds.begin, {});
  keep(key, std::move(fresh));
  return graph;
}

void KnownGraphs::keep(std::uint64_t key, Known known) {
  const std::size_t size = known.size();
  if (bytes_ + size > most_bytes_) {
    graphs_.clear();
    bytes_ = 0;
  }
  bytes_ += size;
  graphs_.emplace(key, std::make_shared<const Known>(std::move(known)));
}

}  // namespace sp::analyzer
