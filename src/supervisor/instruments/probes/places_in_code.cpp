#include "supervisor/instruments/probes/places_in_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using core::Address;

/// The block that holds an address, or the last one in front of it; the end if there is none.
auto block_at(const core::ControlFlowGraph& graph, Address address) {
  const auto above =
      std::upper_bound(graph.blocks.begin(), graph.blocks.end(), address,
                       [](Address at, const core::BasicBlock& block) { return at < block.start; });
  return above == graph.blocks.begin() ? graph.blocks.end() : std::prev(above);
}

bool is_within_instruction(const core::ControlFlowGraph& graph, Address address) {
  const auto block = block_at(graph, address);
  if (block == graph.blocks.end()) {
    return false;
  }
  Address at = block->start;
  for (const std::uint8_t length : block->lengths) {
    if (address <= at) {
      return address != at;
    }
    at = at + length;
  }
  return address < at;
}

bool begins_block(const core::ControlFlowGraph& graph, Address address) {
  const auto block = block_at(graph, address);
  return block != graph.blocks.end() && block->start == address;
}

/// Where the instructions begin; empty if something does not decode.
std::vector<Address> sweep(Address begin, std::span<const std::byte> code) {
  std::vector<Address> begins;
  for (std::size_t at = 0; at < code.size();) {
    const Address address = begin + at;
    const auto instruction = arch::Native::decode(code.subspan(at), address);
    if (!instruction) {
      return {};
    }
    begins.push_back(address);
    at += instruction->length;
  }
  return begins;
}

}  // namespace

void drop_places_within_instructions(Address begin, std::span<const std::byte> code,
                                     const core::ControlFlowGraph& known,
                                     std::vector<Address>& places) {
  std::erase_if(places, [&known](Address at) { return is_within_instruction(known, at); });
  if (std::all_of(places.begin(), places.end(),
                  [&known](Address at) { return begins_block(known, at); })) {
    return;
  }
  const std::vector<Address> begins = sweep(begin, code);
  const auto is_in_sweep = [&begins](Address at) {
    return std::binary_search(begins.begin(), begins.end(), at);
  };
  if (std::all_of(known.blocks.begin(), known.blocks.end(), [&](const core::BasicBlock& block) {
        return block.is_unlocked || is_in_sweep(block.start);
      })) {
    std::erase_if(places, [&](Address place) { return !is_in_sweep(place); });
  }
}

bool may_begin_block(ProbedCode& code, const ProbedFunction& function, Address at) {
  std::vector<std::byte> bytes(function.bounds.size());
  if (code.fetch(function.bounds.begin, bytes) != bytes.size()) {
    return false;
  }
  std::vector<Address> places{at};
  drop_places_within_instructions(function.bounds.begin, bytes, code.analyze(function, {}), places);
  return !places.empty() && code.analyze(function, places).unmapped.empty();
}

}  // namespace sp::supervisor
