#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "core/elf_image.h"
#include "symbols/code_selection.h"

namespace sp::count {

/// MODULE names the mapped file: its path, its name, "c" for libc.so.6, "*" for each; "" the
/// program. Pure, but for symbolic links.
[[nodiscard]] bool names_module(std::string_view module, const std::string& mapped_path,
                                bool is_program);

/// A file with code, as far as names go.
struct NamedFile {
  std::string path;
  std::string root;  // prepended to `path` for reading; "" or /proc/PID/root
  bool is_program = false;
  std::shared_ptr<const core::ElfImage> image;
};

/// A function that a pattern names.
struct WantedFunction {
  std::string name;  // demangled
  bool is_ifunc = false;
};
/// By ELF address.
using WantedFunctions = std::map<std::uint64_t, WantedFunction>;

/// What the user has named.
class FunctionPatterns {
 public:
  FunctionPatterns(const std::vector<cli::CountPattern>& patterns,
                   std::vector<std::string> debug_directories);

  /// Some pattern is for the file.
  [[nodiscard]] bool wants(const std::string& path, bool is_program) const;
  /// Files other than the program may be wanted.
  [[nodiscard]] bool wants_libraries() const;
  /// The functions of a file that patterns name.
  [[nodiscard]] WantedFunctions find(const NamedFile& file) const;
  /// The file's patterns match this linkage name.
  [[nodiscard]] bool matches(const NamedFile& file, std::string_view symbol) const;
  /// The demangled names of all functions of a file.
  [[nodiscard]] std::vector<std::string> all_names(const NamedFile& file) const;
  [[nodiscard]] const std::vector<std::string>& debug_directories() const {
    return debug_directories_;
  }

 private:
  struct Pattern {
    std::string module;
    std::string text;
    symbols::FunctionMatcher matcher;
  };

  std::vector<Pattern> patterns_;
  std::vector<std::string> debug_directories_;
};

}  // namespace sp::count
