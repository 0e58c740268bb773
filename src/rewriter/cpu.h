#pragma once

// Whose code is copied: this CPU's, as sp::rewriter::cpu. Tests also build the rewriter for a CPU
// that SP_REWRITER_CPU names.
#include "arch/aarch64/copying.h"
#include "arch/native.h"
#include "arch/x86_64/copying.h"

namespace sp::rewriter {

#ifdef SP_REWRITER_CPU
namespace cpu = arch::SP_REWRITER_CPU;
#else
namespace cpu = arch::native;
#endif

}  // namespace sp::rewriter
