#pragma once

#include <string>
#include <string_view>

namespace sp::symbols {

/// A symbol as a reader wants it: the version behind '@' cut off, C++ (Itanium) and Rust (legacy
/// and v0) demangled, the hash of legacy Rust names dropped, clone suffixes written as
/// "f() [clone .part.0]". What is not a mangled name, or a damaged one, comes back as it is. No
/// answer is longer than a few KiB: a longer one is cut and ends in "...".
[[nodiscard]] std::string demangle(std::string_view symbol);

}  // namespace sp::symbols
