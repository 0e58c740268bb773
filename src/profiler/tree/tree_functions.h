#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/function_trace.h"
#include "profiler/id_index.h"

namespace sp::profiler {

/// The functions of a calling-context tree, by their first instruction.
class TreeFunctions {
 public:
  static constexpr std::uint32_t kNone = IdIndex::kNone;

  struct Function {
    core::ModuleOffset start;
    std::uint64_t size = 0;                  // bytes; 0: not known
    bool has_places = false;                 // its calls are seen
    bool is_part = false;                    // of another function, which jumps to it
    std::optional<core::TimePoint> until{};  // its calls were seen until then
  };

  /// A function whose calls are seen. Returns its number.
  std::uint32_t add(const core::TracedFunction<core::ModuleOffset>& traced);
  /// One that is known by samples alone.
  std::uint32_t add(core::ModuleOffset start);

  /// The function with places that holds an address; kNone if there is none.
  [[nodiscard]] std::uint32_t holding(core::ModuleOffset where) const;
  [[nodiscard]] const std::vector<Function>& all() const { return functions_; }
  /// How many have places: what samples fall into is to be looked up again where it changes.
  [[nodiscard]] std::size_t with_places() const { return ranges_.size(); }

 private:
  std::vector<Function> functions_;
  std::unordered_map<core::ModuleOffset, std::uint32_t> numbers_;  // by start
  std::map<core::ModuleOffset, std::uint32_t> ranges_;             // of those with places
};

}  // namespace sp::profiler
