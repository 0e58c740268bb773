#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/annotate/disassembler.h"
#include "commands/annotate/finished_run.h"
#include "commands/annotate/listing.h"
#include "core/result.h"
#include "symbols/symbolizer.h"

namespace sp::annotate {

/// The file of a module of a finished run: the instructions of its functions, with source lines.
class ModuleCode {
 public:
  /// Errors: the code of `function` was in memory only, or the file cannot be read.
  [[nodiscard]] static core::Result<ModuleCode> open(std::span<const ModuleEntry> modules,
                                                     const CountedFunction& function,
                                                     std::vector<std::string> debug_dirs);

  /// For the user if the file may not be, or is not, the one that was run; "" else.
  [[nodiscard]] const std::string& note() const { return note_; }

  /// The bytes of the function: to the start of the next named function, or to the end of the last
  /// counted block if that is later.
  [[nodiscard]] std::span<const std::byte> code_of(const CountedFunction& function);
  /// `code` as code_of() has it.
  [[nodiscard]] std::vector<ListedInstruction> list(const CountedFunction& function,
                                                    std::span<const std::byte> code) const;
  /// "call 0x1180  <helper+0x10>"
  [[nodiscard]] std::string text(const ListedInstruction& row);
  /// Of the function itself or, of inlined code, of the innermost one.
  [[nodiscard]] std::optional<symbols::SourceLine> source_of(std::uint64_t address);

 private:
  ModuleCode(const core::Module& module, std::string note, std::vector<std::string> debug_dirs);

  [[nodiscard]] std::uint64_t find_end(const CountedFunction& function);
  [[nodiscard]] std::span<const std::byte> bytes(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] std::string target(std::uint64_t address);

  std::shared_ptr<const core::ElfImage> image_;
  std::string note_;
  Disassembler disassembler_;
  symbols::Symbolizer symbolizer_;
};

}  // namespace sp::annotate
