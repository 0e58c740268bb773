#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/control_flow_graph.h"
#include "core/elf_image.h"
#include "core/function_copy.h"

namespace sp::rewriter {

/// A function of an ELF file, mapped as the profiler does it.
struct ElfFunction {
  core::AddressRange bounds;
  std::span<const std::byte> code;
  core::ControlFlowGraph graph;
  std::vector<core::Address> entries;
  core::AddressRange padding;  // behind it

  /// Complete if all of its indirect jumps are resolved or lead through pointers, for
  /// those that the file has are entries.
  [[nodiscard]] core::FunctionToCopy to_copy() const;
};

/// The functions of an ELF file, as if it were mapped `bias` bytes above its own addresses.
class ElfFunctions {
 public:
  /// nullopt if the file cannot be read.
  /// `is_loaded`: it is mapped there, in this process, so that its data are relocated.
  [[nodiscard]] static std::optional<ElfFunctions> open(const std::string& path,
                                                        std::uint64_t bias = 0,
                                                        bool is_loaded = false);

  [[nodiscard]] std::size_t size() const { return candidates_.functions.size(); }
  [[nodiscard]] ElfFunction at(std::size_t index) const;

 private:
  std::shared_ptr<const core::ElfImage> image_;
  std::uint64_t bias_ = 0;
  bool is_loaded_ = false;
  core::InstrumentationCandidates candidates_;
  std::vector<std::uint64_t> pointers_;  // sorted
};

}  // namespace sp::rewriter
