#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/address.h"
#include "core/module.h"
#include "symbols/source_line.h"

namespace sp::symbols {

/// One function at an address; an address inside inlined code has several.
struct NamedFrame {
  /// Demangled; "NAME@plt" in a linker's jump stub. Where no symbol holds the address:
  /// "module+0x1234" with the start of its FDE, or with the address itself where there is no FDE
  /// either.
  std::string function;
  /// False for "module+0x1234".
  bool has_symbol = false;
  /// ELF virtual address of the function's first byte; for an inlined one that of the function
  /// that it was inlined into.
  std::uint64_t start = 0;
  bool inlined = false;
  std::optional<SourceLine> source;  // where in this function the address lies
};

struct SymbolizerOptions {
  /// Roots that hold .build-id/xx/yyyy.debug and mirrored paths, as we see them; /usr/lib/debug is
  /// always tried.
  std::vector<std::string> debug_directories;
  /// False where lines and inlined frames are not wanted (they cost reading DWARF).
  bool source_lines = true;
};

/// Names addresses. Runs on one thread, which owns it (libdw handles must not be shared). Never
/// fails: what cannot be named gets its module and offset.
class Symbolizer {
 public:
  explicit Symbolizer(SymbolizerOptions options);
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;
  ~Symbolizer();

  /// Makes a module known. Its file is read when the first of its addresses is named; call this
  /// while its process lives, so that what only the process shows (its mount namespace, its JIT's
  /// map) is still reachable then.
  void add_module(const core::Module& module);

  /// The functions at an address, innermost inlined one first; never empty. The answer is kept, so
  /// asking again is cheap; the reference holds until the next call. A return address is looked up
  /// one byte back.
  [[nodiscard]] const std::vector<NamedFrame>& name(core::ModuleOffset where,
                                                    bool is_return_address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::symbols
