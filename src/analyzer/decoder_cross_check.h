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

/// A single step that the decoder had not foreseen.
struct Mismatch {
  core::Address address;
  /// What the decoder said; nothing where it knew no such instruction.
  std::optional<core::Instruction> decoded;
  core::Address went_to;
};

/// What one window of single steps taught.
struct Observation {
  std::uint64_t steps = 0;
  std::vector<core::Address> branches;  // newly seen to transfer control
  std::vector<core::Address> leaders;   // newly seen to be gone to
  std::vector<Mismatch> mismatches;     // each address once
};

/// Learns from single steps which instructions transfer control, and checks the decoder by them.
/// Pure. What is remembered is of one address space, and bounded: when it is full it begins anew,
/// so that something may be told twice.
class DecoderCrossCheck {
 public:
  [[nodiscard]] Observation observe(const core::Stepped& stepped);

  /// The kinds of instructions (arch::Isa::encoding_kind) that were seen to transfer control.
  [[nodiscard]] const std::unordered_set<std::uint64_t>& encodings() const { return encodings_; }

 private:
  void observe_step(const core::Stepped::At& at, core::Address next, Observation& observation);

  std::unordered_set<core::Address> branches_;
  std::unordered_set<core::Address> leaders_;
  std::unordered_set<core::Address> mismatched_;
  std::unordered_set<std::uint64_t> encodings_;
};

}  // namespace sp::analyzer
