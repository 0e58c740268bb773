#include "core/function_copy.h"

#include <algorithm>

namespace sp::core {

std::string_view to_string(CopyRefusal refusal) {
  switch (refusal) {
    case CopyRefusal::not_on_this_cpu:
      return "not on this CPU";
    case CopyRefusal::not_mapped:
      return "code that is not known";
    case CopyRefusal::unmovable:
      return "an instruction that cannot be moved";
    case CopyRefusal::out_of_reach:
      return "out of reach";
    case CopyRefusal::flags_across_calls:
      return "flags across calls";
    case CopyRefusal::no_scratch_register:
      return "no scratch register";
    case CopyRefusal::uses_counter_segment:
      return "uses the counter segment";
    case CopyRefusal::restartable_sequence:
      return "restartable sequence";
    case CopyRefusal::too_large:
      return "too large";
    case CopyRefusal::no_room:
      return "no room";
    case CopyRefusal::no_counter:
      return "no counter";
  }
  return "";
}

std::optional<CopyPoint> FunctionCopy::to_original(Address pc) const {
  if (!range().contains(pc)) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::uint32_t>(pc - at);
  const auto found = std::lower_bound(
      map.begin(), map.end(), offset,
      [](const MapEntry& entry, std::uint32_t wanted) { return entry.copy < wanted; });
  if (found == map.end() || found->copy != offset) {
    return std::nullopt;
  }
  CopyPoint point;
  point.original =
      Address{original.begin.value() + static_cast<std::uint64_t>(std::int64_t{found->original})};
  point.block = found->block;
  point.is_counted = (found->flags & kCounted) != 0;
  point.undo = undos[found->undo];
  return point;
}

std::optional<Address> FunctionCopy::to_copy(Address original_pc) const {
  const auto found = std::find_if(map.begin(), map.end(), [&](const MapEntry& entry) {
    return (entry.flags & kEntry) != 0 &&
           original.begin.value() + static_cast<std::uint64_t>(std::int64_t{entry.original}) ==
               original_pc.value();
  });
  return found != map.end() ? std::optional(at + found->copy) : std::nullopt;
}

}  // namespace sp::core
