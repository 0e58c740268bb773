#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::analyzer {

/// One pass over a function's code: follows control from places that are certain, then from those
/// that are speculations. All places are offsets into the function.
class RecursiveDescent {
 public:
  using Offset = std::uint32_t;
  using Rejected = std::unordered_set<Offset>;

  /// A direct jump or branch inside the function.
  struct Edge {
    Offset to = 0;
    Offset from = 0;
  };

  /// `code` are the bytes that can be read from bounds.begin on, `rejected` the speculations that
  /// earlier passes found to be wrong. Both outlive this.
  RecursiveDescent(core::AddressRange bounds, std::span<const std::byte> code,
                   const Rejected& rejected);

  /// What certainly follows from it; run() does the rest.
  void follow_leader(core::Address leader);
  /// Follows where an indirect jump goes according to its table.
  void follow_table(Offset jump, std::span<const core::Address> destinations);
  /// What follow_table() was told is wrong after all.
  void reject_table(Offset jump) { newly_rejected_.insert(jump); }
  /// Until there is nothing left to follow but indirect jumps.
  void run();

  /// Conjectures that turned out wrong in this pass; where there are some, its result is void.
  [[nodiscard]] const Rejected& newly_rejected() const { return newly_rejected_; }
  [[nodiscard]] const std::vector<Offset>& indirect_jumps() const { return indirect_jumps_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<core::Address>& transfers() const { return transfers_; }
  [[nodiscard]] const std::vector<core::Address>& unmapped() const { return unmapped_; }
  [[nodiscard]] std::span<const std::byte> code() const { return code_; }
  [[nodiscard]] core::AddressRange bounds() const { return bounds_; }

  [[nodiscard]] bool is_instruction(Offset at) const { return length_at(at) != 0; }
  /// 0 where no instruction begins.
  [[nodiscard]] std::uint8_t length_at(Offset at) const {
    return at < marks_.size() ? marks_[at] & kLength : std::uint8_t{0};
  }
  [[nodiscard]] bool is_leader(Offset at) const {
    return at < marks_.size() && (marks_[at] & kLeader) != 0;
  }
  [[nodiscard]] core::Flow flow_at(Offset at) const { return flows_[at]; }
  [[nodiscard]] std::optional<core::Instruction> decode_at(Offset at) const;
  [[nodiscard]] core::Address address_of(Offset at) const { return bounds_.begin + at; }

 private:
  // What is known of a byte: where an instruction begins, its length and more; else kInside.
  static constexpr std::uint8_t kLength = 0x0F;
  static constexpr std::uint8_t kInside = 0x10;
  static constexpr std::uint8_t kLeader = 0x20;
  static constexpr std::uint8_t kRunStart = 0x40;  // was decoded first, and what follows from it

  /// Why code is taken for code: 0 is certain, others stand in speculations_.
  using Provenance = std::uint32_t;
  struct Speculation {
    Offset at = 0;  // behind a call, or an indirect jump with a table
    Provenance parent = 0;
    bool is_table = false;
  };
  struct Task {
    Offset at = 0;
    Provenance provenance = 0;
  };

  void follow_certain();
  void follow(Task task);
  void keep(Offset at, const core::Instruction& instruction, std::uint8_t role);
  void leave(Offset at, const core::Instruction& instruction, Provenance provenance);
  void go_to(core::Address target, Offset from, Provenance provenance);
  void lead(Offset at, Provenance provenance);
  void speculate(Offset after_call, Provenance parent);
  void clash(Offset at, Offset with, Provenance provenance);
  void overlap(Offset at, Provenance provenance);
  void fail(Offset at, Provenance provenance);
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
  std::unordered_map<Offset, Provenance> provenances_;  // of certain runs nothing
  std::vector<Task> certain_;
  std::vector<Task> likely_;
  std::vector<Task> after_calls_;
  std::size_t next_after_call_ = 0;
  std::vector<Offset> indirect_jumps_;
  std::vector<Edge> edges_;
  std::vector<core::Address> transfers_;
  std::vector<core::Address> unmapped_;
  std::unordered_set<Offset> overlaps_;
  Rejected newly_rejected_;
};

}  // namespace sp::analyzer
