#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"
#include "core/messages.h"

namespace sp::analyzer {

/// A single step that contradicts the decoder.
struct Mismatch {
  core::Address address;
  /// The decoder's answer; nothing if it knew no such instruction.
  std::optional<core::Instruction> decoded;
  core::Address went_to;
};

/// What one window of single steps showed.
struct Observation {
  std::uint64_t steps = 0;
  std::vector<core::Address> branches;  // transferred control for the first time
  std::vector<core::Address> leaders;   // reached by a transfer for the first time
  std::vector<Mismatch> mismatches;     // each address once
};

/// Checks the decoder against single steps and collects the instructions that transfer control.
/// Pure. Remembers what it has reported for one address space. The memory is bounded: once full it
/// is cleared, so that something may be reported twice.
class DecoderCrossCheck {
 public:
  [[nodiscard]] Observation observe(const core::Stepped& stepped);

  /// The kinds of instructions (arch::Isa::encoding_kind) that transferred control.
  [[nodiscard]] const std::unordered_set<std::uint64_t>& encodings() const { return encodings_; }

 private:
  void observe_step(const core::Stepped::At& at, core::Address next, Observation& observation);

  std::unordered_set<core::Address> branches_;
  std::unordered_set<core::Address> leaders_;
  std::unordered_set<core::Address> mismatched_;
  std::unordered_set<std::uint64_t> encodings_;
};

}  // namespace sp::analyzer
