#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/check.h"
#include "rewriter/copy_code.h"

namespace sp::rewriter {

/// The jumps within inserted code. Their displacements are known as soon as all of it is there, for
/// none of its instructions changes its size.
class InsertedJumps {
 public:
  /// `instructions`: of the copy; those of the code are appended.
  explicit InsertedJumps(std::vector<CopiedInstruction>& instructions)
      : instructions_(instructions), first_(instructions.size()) {}

  /// The step was appended.
  void note(const cpu::InsertedStep& step) {
    using Label = cpu::InsertedStep::Label;
    const std::size_t at = instructions_.size() - 1;
    if (step.label != Label::none) {
      places_.at(static_cast<std::size_t>(step.label)) = at;
    }
    if (step.to != Label::none) {
      jumps_.emplace_back(at, step.to);
    }
    if (step.exit != Label::none) {
      exits_.emplace_back(at, step.exit);
    }
  }

  /// Appends to `exits`.
  void connect(std::vector<CopyCode::InsertedExit>& exits) {
    std::vector<std::uint32_t> offsets{0};
    for (std::size_t i = first_; i < instructions_.size(); ++i) {
      offsets.push_back(offsets.back() + instructions_[i].code.size);
    }
    for (const auto& [at, to] : jumps_) {
      const std::size_t place = places_.at(static_cast<std::size_t>(to));
      cpu::MovedInstruction& jump = instructions_[at].code;
      jump.target = core::Address{offsets[place - first_]};
      SP_CHECK(cpu::place(jump, core::Address{offsets[at - first_]}));
      jump.settle();
    }
    for (const auto& [at, to] : exits_) {
      const std::size_t place = places_.at(static_cast<std::size_t>(to));
      exits.push_back({at, std::int64_t{offsets[place - first_]} - offsets[at + 1 - first_]});
    }
  }

 private:
  std::vector<CopiedInstruction>& instructions_;
  std::size_t first_;
  std::array<std::size_t, 8> places_{};
  std::vector<std::pair<std::size_t, cpu::InsertedStep::Label>> jumps_;
  std::vector<std::pair<std::size_t, cpu::InsertedStep::Label>> exits_;
};

}  // namespace sp::rewriter
