#pragma once

#include <elf.h>

#include <type_traits>

#include "arch/aarch64/frames.h"
#include "arch/native.h"
#include "arch/x86_64/frames.h"

namespace sp::supervisor {

/// How stack frames look on the CPU that we run on.
using NativeFrames = std::conditional_t<arch::Native::kElfMachine == EM_X86_64,
                                        arch::x86_64::Frames, arch::aarch64::Frames>;

}  // namespace sp::supervisor
