#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "profiler/formats/bolt.h"
#include "profiler/recorded_run.h"
#include "symbols/elf_sections.h"

namespace sp::convert {

/// A module of a run: its file, and its number in the counts.
struct CodeFile {
  std::uint32_t module = 0;
  std::string path;
  symbols::ElfSections sections;
};

/// The file of the module that `named` names by path or file name; "": of the program that was
/// recorded. Errors: the run counted nothing in it, or the file is not there, or is another build
/// than the one that was recorded.
[[nodiscard]] core::Result<CodeFile> open_code_file(const profiler::RecordedRun& run,
                                                    const profiler::RecordedCode& counts,
                                                    const std::string& named);

/// How BOLT divides the functions of a file into blocks. Error: the file has no .symtab, or is for
/// another CPU than x86-64 and aarch64.
[[nodiscard]] core::Result<profiler::BoltCode> bolt_code(const symbols::ElfSections& file,
                                                         const profiler::RecordedCode& counts,
                                                         std::uint32_t module);

}  // namespace sp::convert
