#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "arch/aarch64/decoder.h"
#include "core/function_copy.h"

namespace sp::rewriter::aarch64 {

inline constexpr core::Address kStart{0x401000};
inline constexpr core::CopyPlace kPlace{core::Address{0x501000}, 0x4000, 0x40000000};

inline std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> bytes;
  for (const std::uint32_t word : words) {
    for (unsigned i = 0; i < 4; ++i) {
      bytes.push_back(static_cast<std::byte>((word >> (8U * i)) & 0xFFU));
    }
  }
  return bytes;
}

/// A function of given instructions, with a graph of them. `data`: so many words at its end are
/// none.
class HandMadeWords {
 public:
  explicit HandMadeWords(const std::vector<std::uint32_t>& words, std::size_t data = 0)
      : code_(bytes_of(words)) {
    function_.bounds = {kStart, kStart + code_.size()};
    const std::size_t size = code_.size() - 4 * data;
    std::set<std::size_t> leaders{0};
    for (std::size_t at = 0; at < size; at += 4) {
      const core::Instruction instruction = at_offset(at);
      if (core::ends_block(instruction.flow)) {
        leaders.insert(at + 4);
        if (instruction.target && function_.bounds.contains(*instruction.target)) {
          leaders.insert(*instruction.target - kStart);
        }
      }
    }
    leaders.insert(size);
    for (auto leader = leaders.begin(); *leader < size; ++leader) {
      core::BasicBlock block;
      block.start = kStart + *leader;
      block.lengths.assign((*std::next(leader) - *leader) / 4, 4);
      block.last = at_offset(*std::next(leader) - 4);
      block.falls_through = !core::ends_block(block.last.flow);
      graph_.blocks.push_back(block);
    }
    function_.code = code_;
    function_.graph = &graph_;
    function_.entries = {kStart};
    function_.is_complete = true;
  }
  HandMadeWords(const HandMadeWords&) = delete;
  HandMadeWords& operator=(const HandMadeWords&) = delete;

  core::FunctionToCopy* operator->() { return &function_; }
  core::FunctionToCopy& operator*() { return function_; }

 private:
  [[nodiscard]] core::Instruction at_offset(std::size_t at) const {
    return *arch::aarch64::decode(std::span(code_).subspan(at), kStart + at);
  }

  std::vector<std::byte> code_;
  core::ControlFlowGraph graph_;
  core::FunctionToCopy function_;
};

}  // namespace sp::rewriter::aarch64
