#pragma once

#include <string>
#include <string_view>

/// Names as LLVM's tools print them.
namespace sp::xray {

/// What the demangler of LLVM 14 makes of a name that libiberty has demangled:
/// "f() [clone .part.0]" is "f() (.part.0)", "{lambda(int)#2}" is "'lambda0'(int)", and
/// "{unnamed type#1}" is "'unnamed'". Later versions write ">>" for "> >".
[[nodiscard]] std::string llvm_name(std::string_view name);

/// A YAML scalar as LLVM's YAML writer quotes it: plain, 'single quoted', or "double quoted" if it
/// has control characters or is not ASCII.
[[nodiscard]] std::string yaml_scalar(std::string_view text);

}  // namespace sp::xray
