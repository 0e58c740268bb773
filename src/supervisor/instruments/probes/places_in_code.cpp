#include "supervisor/instruments/probes/places_in_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

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

namespace {

/// Of a function, without those within instructions. True if blocks may begin at all of the others.
bool may_begin_blocks(ProbedCode& code, const ProbedFunction& function,
                      std::vector<Address>& places) {
  if (std::all_of(places.begin(), places.end(),
                  [&function](Address at) { return at == function.bounds.begin; })) {
    return true;
  }
  std::vector<std::byte> bytes(function.bounds.size());
  if (code.fetch(function.bounds.begin, bytes) != bytes.size()) {
    return false;
  }
  drop_places_within_instructions(function.bounds.begin, bytes, code.analyze(function, {}), places);
  return !places.empty() && code.analyze(function, places).unmapped.empty();
}

/// Of one function.
void instrument_places_of(ProbedCode& code, std::uint32_t number, std::vector<Address> places) {
  if (may_begin_blocks(code, code.function(number), places)) {
    code.instrument_function(places, std::nullopt);
    return;
  }
  if (places.size() < 2) {
    return;
  }
  for (const Address at : places) {
    std::vector<Address> one(1, at);
    if (may_begin_blocks(code, code.function(number), one)) {
      code.instrument_function(one, std::nullopt);
    }
  }
}

}  // namespace

void instrument_places(ProbedCode& code, std::span<const Address> places) {
  std::map<std::uint32_t, std::vector<Address>> by_function;
  for (const Address at : places) {
    if (const ProbedFunction* const function = code.functions().at(at)) {
      by_function[function->number].push_back(at);
    } else {
      code.instrument_function(std::span(&at, 1), std::nullopt);
    }
  }
  for (auto& [number, of_function] : by_function) {
    instrument_places_of(code, number, std::move(of_function));
  }
}

}  // namespace sp::supervisor
