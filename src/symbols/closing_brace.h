#pragma once

#include "core/decoder.h"
#include "core/elf_image.h"
#include "symbols/source_line.h"

namespace sp::symbols {

/// Marks the rows of the brace behind a function's return statements in which nothing but the
/// return happens, or a jump to it: gcov has no such line. It is told from debug information and
/// code, not from what ran, so that a file has the same lines in every run.
void mark_closing_brace(FunctionLines& lines, const core::ElfImage& image, core::Decoder decode);

/// Finds LineRange::nops. Without optimization gcc leaves one where a statement has no code of its
/// own, such as a brace: who jumps behind it is in the line, too.
void mark_nops(FunctionLines& lines, const core::ElfImage& image, core::Decoder decode);

}  // namespace sp::symbols
