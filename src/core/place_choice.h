#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Which functions are traced, by what compilers left in them for instrumentation.
namespace sp::core {

enum class Via : std::uint8_t {
  any,        // whatever is in them
  xray,       // sleds of -fxray-instrument
  patchable,  // -fpatchable-function-entry
  fentry,     // calls of mcount or __fentry__, or the NOPs in their place: -pg
  cyg,        // calls of __cyg_profile_func_enter: -finstrument-functions
};

/// Functions by their XRay ids: all from `first` to `last`.
struct XrayIds {
  std::string module;  // path or name of its file; "": of any
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  bool operator==(const XrayIds&) const = default;
};

/// Which functions run from copies that write their events, where they can.
enum class TracedInCopies : std::uint8_t { none, hot, all };

struct PlaceChoice {
  Via via = Via::any;
  std::vector<XrayIds> xray_ids;  // empty: all
  TracedInCopies in_copies = TracedInCopies::hot;

  [[nodiscard]] bool is_any() const { return via == Via::any && xray_ids.empty(); }
};

}  // namespace sp::core
