#pragma once

// What src/rewriter uses of a CPU, beside arch/isa.h: the same names in each CPU's namespace.
#include "arch/aarch64/copy_jumps.h"
#include "arch/aarch64/counting.h"
#include "arch/aarch64/inserted_code.h"
#include "arch/aarch64/move.h"
#include "arch/aarch64/pointer_source.h"
