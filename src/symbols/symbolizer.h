#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/decoder.h"
#include "core/module.h"
#include "symbols/debug_server.h"
#include "symbols/source_line.h"

namespace sp::symbols {

/// One function at an address; an address inside inlined code has several.
struct NamedFrame {
  /// Demangled; "NAME@plt" in a PLT stub. Without a symbol "module+0x1234", with the start of the
  /// address's FDE, or with the address itself if there is no FDE either.
  std::string function;
  /// False for "module+0x1234".
  bool has_symbol = false;
  /// ELF virtual address of the function's first byte; for an inlined function that of the function
  /// that contains it.
  std::uint64_t start = 0;
  bool inlined = false;
  std::optional<SourceLine> source;  // where in this function the address lies
};

struct SymbolizerOptions {
  /// Debug directories with .build-id/xx/yyyy.debug and mirrored paths, in superprofiler's own file
  /// system; /usr/lib/debug is always tried.
  std::vector<std::string> debug_directories;
  /// False if lines and inlined frames are not wanted; they require reading DWARF.
  bool source_lines = true;
  /// Asked for debug files that are in no directory; null: none.
  std::shared_ptr<DebugServer> server;
  /// The server is not asked before ask_server() is called.
  bool server_later = false;
  /// For lines_of(), which does not find closing braces without it.
  core::Decoder decode = nullptr;
  /// Does the work that it is given, which reads a file for prepare(), on the thread on which it is
  /// called; null: prepare() reads at once.
  std::function<void(const std::function<void()>&)> beside = nullptr;
};

/// Symbolizes addresses. Runs on the one thread that owns it (libdw handles must not be shared:
/// that of a file that another thread has read is used by one thread at a time). Never fails: an
/// address without a name gets its module and offset.
class Symbolizer {
 public:
  explicit Symbolizer(SymbolizerOptions options);
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;
  ~Symbolizer();

  /// Adds a module. Its file is read at the first lookup. Call this while the module's process
  /// lives, because it opens what only the process shows (its mount namespace, its JIT's map).
  void add_module(const core::Module& module);

  /// Reads the file of the module at `where` on a thread of its own, as the options say. False: not
  /// yet, because another one is read; ask again. Who asks for a name meanwhile waits.
  [[nodiscard]] bool prepare(core::ModuleOffset where);

  /// From now on the server of the options is asked; files that were read without debug information
  /// are read again. Call this while nothing waits for names.
  void ask_server();

  /// The functions at an address, innermost inlined one first; never empty. Results are cached; the
  /// reference is valid until the next call. A return address is looked up one byte back.
  [[nodiscard]] const std::vector<NamedFrame>& name(core::ModuleOffset where,
                                                    bool is_return_address);

  /// Which of the functions that a JIT compiler has put at `where`, one after the other, was there
  /// at `time`: 0 for the first one, and for all other code. name() tells that one from now on.
  [[nodiscard]] std::uint32_t generation(core::ModuleOffset where, bool is_return_address,
                                         core::TimePoint time);
  /// Makes `id` a module with the functions of one generation (not 0) of a JIT module.
  void add_generation(core::ModuleId id, core::ModuleId jit, std::uint32_t generation);

  /// False: no address of the module has a source line, as name() tells it.
  [[nodiscard]] bool has_lines(core::ModuleId module);

  /// Of the function in [begin, end), ELF virtual addresses of a module.
  [[nodiscard]] FunctionLines lines_of(core::ModuleId module, std::uint64_t begin,
                                       std::uint64_t end);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::symbols
