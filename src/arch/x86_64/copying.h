#pragma once

// What src/rewriter uses of a CPU, beside arch/isa.h: the same names in each CPU's namespace.
#include "arch/x86_64/copy_jumps.h"
#include "arch/x86_64/counting.h"
#include "arch/x86_64/event_code.h"
#include "arch/x86_64/inserted_code.h"
#include "arch/x86_64/move.h"
#include "arch/x86_64/pointer_source.h"
#include "arch/x86_64/transfer_code.h"
