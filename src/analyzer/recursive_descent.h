#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::analyzer {

/// A recursive-descent disassembler: one pass over a function's code, which follows control first
/// from certain places, then from speculative ones. All places are offsets into the function.
class RecursiveDescent {
 public:
  using Offset = std::uint32_t;
  using Rejected = std::unordered_set<Offset>;

  /// A direct jump or branch inside the function.
  struct Edge {
    Offset to = 0;
    Offset from = 0;
  };

  /// `code` holds the readable bytes from bounds.begin on, `rejected` the speculations that earlier
  /// passes refuted. Both must outlive this.
  RecursiveDescent(core::AddressRange bounds, std::span<const std::byte> code,
                   const Rejected& rejected);

  /// Follows certain code from a leader; run() does the rest.
  void follow_leader(core::Address leader);
  /// Follows an indirect jump to its table's destinations. `is_certain`: that all of them are the
  /// table's outweighs that calls return.
  void follow_table(Offset jump, std::span<const core::Address> destinations, bool is_certain);
  /// Rejects the table given to follow_table().
  void reject_table(Offset jump) { newly_rejected_.insert(jump); }
  /// Follows everything but indirect jumps.
  void run();

  /// Speculations that this pass refuted; if there are any, its result is void.
  [[nodiscard]] const Rejected& newly_rejected() const { return newly_rejected_; }
  [[nodiscard]] const std::vector<Offset>& indirect_jumps() const { return indirect_jumps_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<core::Address>& transfers() const { return transfers_; }
  [[nodiscard]] const std::vector<core::Address>& unmapped() const { return unmapped_; }
  /// Where core::BasicBlock::is_unlocked blocks begin.
  [[nodiscard]] const std::set<Offset>& unlocked() const { return unlocked_; }
  [[nodiscard]] std::span<const std::byte> code() const { return code_; }
  [[nodiscard]] core::AddressRange bounds() const { return bounds_; }

  [[nodiscard]] bool is_instruction(Offset at) const { return length_at(at) != 0; }
  /// 0 if no instruction begins there.
  [[nodiscard]] std::uint8_t length_at(Offset at) const {
    return at < marks_.size() ? marks_[at] & kLength : std::uint8_t{0};
  }
  [[nodiscard]] bool is_leader(Offset at) const {
    return at < marks_.size() && (marks_[at] & kLeader) != 0;
  }
  /// Control comes there from outside, or by a jump that is not known: a leader that was given.
  [[nodiscard]] bool is_entry(Offset at) const { return is_leader(at) && entries_.contains(at); }
  [[nodiscard]] core::Flow flow_at(Offset at) const { return flows_[at]; }
  [[nodiscard]] std::optional<core::Instruction> decode_at(Offset at) const;
  [[nodiscard]] core::Address address_of(Offset at) const { return bounds_.begin + at; }

 private:
  // One mark per byte: at an instruction's first byte its length and flags, else kInside.
  static constexpr std::uint8_t kLength = 0x0F;
  static constexpr std::uint8_t kInside = 0x10;
  static constexpr std::uint8_t kLeader = 0x20;
  static constexpr std::uint8_t kRunStart = 0x40;  // the first of a run with one provenance

  /// Why bytes are taken for code: 0 is certain, others index speculations_.
  using Provenance = std::uint32_t;
  struct Speculation {
    Offset at = 0;  // after a call, or an indirect jump with a table
    Provenance parent = 0;
    bool is_table = false;
    bool is_certain = false;
  };
  struct Task {
    Offset at = 0;
    Provenance provenance = 0;
  };

  void follow_certain();
  void follow(Task task);
  void mark(Offset at, const core::Instruction& instruction, std::uint8_t role);
  void record_transfer(Offset at, const core::Instruction& instruction, Provenance provenance);
  void go_to(core::Address target, Offset from, Provenance provenance);
  void add_leader(Offset at, Provenance provenance);
  void speculate(Offset after_call, Provenance parent);
  void resolve_conflict(Offset at, Offset with, Provenance provenance);
  void follow_overlap(Offset at, Provenance provenance);
  void fail(Offset at, Provenance provenance);
  [[nodiscard]] std::optional<Provenance> weaker_of(Provenance one, Provenance other) const;
  void reject(Provenance provenance);
  [[nodiscard]] Provenance owner_of(Offset at) const;
  [[nodiscard]] bool descends(Provenance provenance, Provenance from) const;
  [[nodiscard]] bool is_behind_lock(Offset at) const;

  core::AddressRange bounds_;
  std::span<const std::byte> code_;
  const Rejected& rejected_;
  std::vector<std::uint8_t> marks_;
  std::vector<core::Flow> flows_;
  std::vector<Speculation> speculations_{1};
  std::unordered_map<Offset, Provenance> provenances_;  // of speculative runs
  std::vector<Task> certain_;
  std::vector<Task> likely_;
  std::vector<Task> after_calls_;
  std::size_t next_after_call_ = 0;
  std::vector<Offset> indirect_jumps_;
  std::vector<Edge> edges_;
  std::vector<core::Address> transfers_;
  std::vector<core::Address> unmapped_;
  std::unordered_set<Offset> overlaps_;
  std::set<Offset> unlocked_;
  std::unordered_set<Offset> entries_;
  Rejected newly_rejected_;
};

}  // namespace sp::analyzer
