#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/address.h"
#include "core/call_cost.h"
#include "core/code_references.h"
#include "core/control_flow_graph.h"
#include "core/coverage.h"
#include "core/elf_image.h"
#include "core/function_copy.h"
#include "core/ifunc.h"
#include "core/sled.h"
#include "core/table_hints.h"

namespace sp::supervisor {

/// Static analysis of code: what is known of it before it is executed. The supervisor may not
/// include the stages that know it, so commands/record hands them in behind this interface. Called
/// on the ptrace thread.
class CodeAnalysis {
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

  CodeAnalysis() = default;
  CodeAnalysis(const CodeAnalysis&) = delete;
  CodeAnalysis& operator=(const CodeAnalysis&) = delete;
  virtual ~CodeAnalysis() = default;

  /// The user wants probes in the file; only `path` and `is_program` need be set.
  [[nodiscard]] virtual bool wants(const File& file) = 0;
  /// Files other than programs may be wanted.
  [[nodiscard]] virtual bool wants_libraries() = 0;
  /// The functions of the file that get probes.
  [[nodiscard]] virtual core::InstrumentationCandidates plan(const File& file) = 0;
  /// A function that --trigger names, that can be patched and unpatched while the target runs, or
  /// of which --trace wants more than its calls.
  struct ControlledFunction {
    std::uint64_t begin = 0;           // of ELF
    std::uint32_t triggers = 0;        // bits: which of them
    std::uint64_t id = 0;              // of TraceRequest::functions; 0: of none
    bool is_unpatched = false;         // it has no places now
    bool logs_argument = false;        // the first one, of each call
    std::vector<core::Sled> events{};  // of the program's own, in its code
  };
  /// Of a file that was planned, by begin.
  [[nodiscard]] virtual std::vector<ControlledFunction> controlled(const File& /*file*/) {
    return {};
  }
  /// Functions of the files that were planned have variants; see core/ifunc.h.
  [[nodiscard]] virtual bool has_ifuncs() { return false; }
  /// Words of any file that tell which variants were chosen.
  [[nodiscard]] virtual std::vector<core::IfuncSlot> ifunc_slots(const File& /*file*/) {
    return {};
  }
  /// The function at that ELF address of a planned file is `ifunc`'s chosen variant. Nothing if it
  /// gets no probes.
  [[nodiscard]] virtual std::optional<core::CandidateFunction> resolved(
      const File& /*file*/, std::uint64_t /*at*/, const core::Ifunc& /*ifunc*/) {
    return {};
  }
  /// What earlier runs have executed of the file (--coverage-known).
  [[nodiscard]] virtual std::vector<core::ReachedRange> known_reached(const File& /*file*/) {
    return {};
  }
  /// What --learn has seen of a file's functions.
  struct CallCosts {
    File file;
    std::vector<core::CallCost> functions;
  };
  /// `own`: the target's own time meanwhile. Returns for each file the indexes of the functions
  /// that are to lose their places; not `is_decided`: they keep them, since the run ends.
  virtual std::vector<std::vector<std::size_t>> learn(const std::vector<CallCosts>& /*files*/,
                                                      core::Duration /*own*/, bool /*is_decided*/) {
    return {};
  }
  /// The blocks of a function, which control enters at `leaders`. Its module is mapped at `bias`.
  /// `hints` may be null.
  [[nodiscard]] virtual core::ControlFlowGraph map(core::AddressRange bounds, std::uint64_t bias,
                                                   std::span<const core::Address> leaders,
                                                   const Read& read,
                                                   const core::TableHints* hints) = 0;
  /// Of a file that was planned; see analyzer/code_references.h. Null while they are being found.
  [[nodiscard]] virtual const core::CodeReferences* references(const File& file) = 0;
  /// See rewriter/jump_targets.h. `code` are the bytes of `bounds`.
  [[nodiscard]] virtual bool jumps_through_pointers(const core::ControlFlowGraph& graph,
                                                    core::AddressRange bounds,
                                                    std::span<const std::byte> code) = 0;
  /// See rewriter/copy_function.h. Finds out itself what is dead, and whether the function is
  /// complete, if its entries are all that references() tells of.
  [[nodiscard]] virtual tl::expected<core::FunctionCopy, core::CopyRefusal> copy(
      const core::FunctionToCopy& function, const core::CopyPlace& place) = 0;
  /// The ELF address of a dynamic symbol.
  [[nodiscard]] virtual std::optional<std::uint64_t> symbol(const File& file,
                                                            std::string_view name) = 0;
};

}  // namespace sp::supervisor
