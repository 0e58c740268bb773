#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

// toml++ 3.3 asserts that a name follows the bracket of a table's header, and without assertions
// reads on, whatever follows. So its assertions throw, in every build.
namespace sp::core {
[[noreturn]] void refuse_toml();
}  // namespace sp::core
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : ::sp::core::refuse_toml())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace sp::core {

/// What is wrong with a text that is no TOML, and where; lines and columns count from 1.
struct TomlError {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string what;
};

[[nodiscard]] tl::expected<toml::table, TomlError> parse_toml(std::string_view text);

}  // namespace sp::core
