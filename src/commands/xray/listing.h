#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "arch/left_code.h"
#include "symbols/xray_map.h"

namespace sp::xray {

/// How a function of a map is called.
struct FunctionName {
  std::string text;         // demangled; "module+0x1234" without a symbol
  bool has_symbol = false;  // false: `text` is only an address
};

/// The map of one file, with what its sleds are now.
struct ListedModule {
  std::string path;
  symbols::XrayMap map;
  std::vector<arch::SledState> states;  // one a sled
  std::vector<FunctionName> functions;  // of function id 1, 2, ..
};

/// For people: a line a sled, below a line of headings. Ids are MODULE:ID if there are several
/// modules, with the file's name.
void write_text(std::ostream& out, const std::vector<ListedModule>& modules);

/// What `llvm-xray extract --symbolize` of LLVM 14 prints: a YAML document. Of several
/// modules one document each, behind a comment with the path.
void write_yaml(std::ostream& out, const std::vector<ListedModule>& modules);

/// "function-enter", ..: LLVM's words.
[[nodiscard]] std::string_view kind_name(core::SledKind kind);

}  // namespace sp::xray
