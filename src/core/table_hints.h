#pragma once

#include <functional>
#include <optional>

#include "core/address.h"

namespace sp::core {

/// What a module's other code and data show of the jump tables of one function. Where no check
/// bounds a table's index (the compiler knows that it is in range), the table ends at the latest
/// where an entry leads to none of the function's places, if other data is known to begin before.
struct TableHints {
  /// The last address within the range at which data begins that code refers to.
  std::function<std::optional<Address>(AddressRange)> last_data_in;
  std::function<bool(Address)> is_code;
  /// An instruction of a part of the function that lies elsewhere: nothing but the function enters
  /// that part.
  std::function<bool(Address)> is_part;
};

}  // namespace sp::core
