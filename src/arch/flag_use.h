#pragma once

namespace sp::arch {

/// What an instruction does with the flags that arithmetic sets. For one that is not known both are
/// false.
struct FlagUse {
  bool reads = false;  // some of them
  bool kills = false;  // all of them
};

}  // namespace sp::arch
