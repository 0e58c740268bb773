#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/function_copy.h"

namespace sp::supervisor {

/// The functions of one address space that run from instrumented copies, by address.
class CopiedFunctions {
 public:
  using Copy = std::shared_ptr<const core::FunctionCopy>;

  void add(Copy copy);
  /// Forgets the copy of the function that begins there.
  void remove(core::Address original);

  [[nodiscard]] bool empty() const { return by_copy_.empty(); }
  [[nodiscard]] std::size_t size() const { return by_copy_.size(); }
  /// The copy whose code holds `pc`, else null.
  [[nodiscard]] Copy at(core::Address pc) const;
  /// The copy of the function that holds `original`, else null.
  [[nodiscard]] Copy of(core::Address original) const;
  [[nodiscard]] std::vector<Copy> all() const;
  /// A landing's second jump is there: the leader that the landing is at.
  [[nodiscard]] std::optional<core::Address> leader_of_second_jump(core::Address pc) const;
  /// Those whose original overlaps the range.
  [[nodiscard]] std::vector<Copy> in(core::AddressRange original) const;

 private:
  using Index = std::map<core::Address, Copy>;
  void forget_second_jumps(const core::FunctionCopy& copy);
  [[nodiscard]] static Copy below(const Index& index, core::Address address);

  Index by_copy_;
  Index by_original_;
  std::map<core::Address, core::Address> second_jumps_;  // to the leader
};

}  // namespace sp::supervisor
