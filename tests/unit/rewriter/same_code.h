#pragma once

#include <string>

#include "core/function_copy.h"

namespace sp::rewriter {

/// Compares a copy with its original by means of another disassembler: each block's copy has the
/// original's instructions in order, with the same operands and destinations, and nothing else but
/// counters, jumps and nops; each byte of the copy belongs to one entry of its map; landings change
/// no byte of another block, of a kept instruction, or, in incomplete functions, of a place where
/// an instruction begins; every loop has an exit. "" if all of it holds.
[[nodiscard]] std::string difference(const core::FunctionToCopy& function,
                                     const core::FunctionCopy& copy);

}  // namespace sp::rewriter
