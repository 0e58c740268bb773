#pragma once

#include <vector>

#include "commands/doctor/doctor.h"
#include "supervisor/startup/copy_probe.h"

namespace sp::doctor {

/// What copies of hot code need: one finding each, with what is lost where it is refused.
[[nodiscard]] std::vector<Finding> judge(const supervisor::CopyFacts& facts, bool in_container);

}  // namespace sp::doctor
