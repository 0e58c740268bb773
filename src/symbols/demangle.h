#pragma once

#include <string>
#include <string_view>

namespace sp::symbols {

/// A readable form of a symbol: without the version behind '@', C++ (Itanium) and Rust (legacy and
/// v0) demangled, without the hash of legacy Rust names, clone suffixes as "f() [clone .part.0]".
/// Names that are not mangled, or damaged, are returned unchanged. Results of more than a few KiB
/// are cut and end in "...".
[[nodiscard]] std::string demangle(std::string_view symbol);

}  // namespace sp::symbols
