#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/address.h"
#include "core/control_flow_graph.h"
#include "core/elf_image.h"

namespace sp::supervisor {

/// What is known of code before it is executed. The supervisor may not know the stages that know
/// it, so session.cpp hands them in behind this. Called on the ptrace thread.
class CodeMaps {
 public:
  /// A file that a process has mapped.
  struct File {
    std::string path;  // as the process sees it
    std::string root;  // "/proc/PID/root" where it sees other files than we do, else ""
    bool is_program = false;
    std::shared_ptr<const core::ElfImage> image;
  };
  /// Original bytes from an address on; returns how many there were.
  using Read = std::function<std::size_t(core::Address, std::span<std::byte>)>;

  CodeMaps() = default;
  CodeMaps(const CodeMaps&) = delete;
  CodeMaps& operator=(const CodeMaps&) = delete;
  virtual ~CodeMaps() = default;

  /// The user wants probes in it; only `path` and `is_program` need be set.
  [[nodiscard]] virtual bool wants(const File& file) = 0;
  /// True where files other than programs may be wanted.
  [[nodiscard]] virtual bool wants_libraries() = 0;
  /// Its functions that are to be given probes.
  [[nodiscard]] virtual core::InstrumentationCandidates plan(const File& file) = 0;
  /// The blocks of a function. Control comes in at `leaders`.
  [[nodiscard]] virtual core::ControlFlowGraph map(core::AddressRange bounds,
                                              std::span<const core::Address> leaders,
                                              const Read& read) = 0;
  /// The ELF address of a dynamic symbol.
  [[nodiscard]] virtual std::optional<std::uint64_t> symbol(const File& file,
                                                            std::string_view name) = 0;
};

}  // namespace sp::supervisor
