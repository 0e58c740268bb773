#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace sp::profiler {

/// Where code of a function comes from, with how often it ran.
struct CountedPlace {
  /// A call that was inlined, or the place itself.
  struct Frame {
    std::string function;             // linkage name of what was inlined; of the first one ""
    std::uint32_t line = 0;           // from that of the function's declaration
    std::uint32_t discriminator = 0;  // tells blocks of one line apart
  };
  std::vector<Frame> frames;  // outermost first; each line is in its own function
  std::uint64_t count = 0;
  std::vector<std::pair<std::string, std::uint64_t>> callees;  // linkage name, calls
};

struct CountedSource {
  std::string function;    // linkage name
  std::uint64_t head = 0;  // how often it was entered
  std::vector<CountedPlace> places;
};

/// A function of LLVM's text sample profile, as clang -fprofile-sample-use and llvm-profdata read
/// it:
///
///     main:1220:1
///      4: 120
///      4.2: 60 parse:50 skip:10
///      5: inlined:1040
///       1: 1040
///
/// NAME:TOTAL:HEAD, then LINE[.DISCRIMINATOR]: COUNT [CALLEE:CALLS..], and for an inlined call
/// LINE[.DISCRIMINATOR]: NAME:TOTAL with the lines of that function. The count of a line is the
/// largest of its places. False if nothing was written: no line ran, or the format cannot have the
/// name.
bool write_autofdo(std::ostream& out, const CountedSource& source);

}  // namespace sp::profiler
