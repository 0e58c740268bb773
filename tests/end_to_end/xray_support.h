#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/native.h"
#include "end_to_end/support.h"

/// The files of tests/fixtures/places, and superprofiler xray.
namespace sp::end_to_end {

inline const std::string kPlaces = SP_SOURCE_DIR "/tests/fixtures/places";

inline std::string fixture(const std::string& name) { return kPlaces + "/files/" + name; }

/// "xray-clang14-CPU-LINK" of this machine's CPU.
inline std::string own_fixture(const std::string& link) {
  return fixture("xray-clang14-" + std::string(arch::Native::kName) + "-" + link);
}

inline Words xray_of(const Words& more) {
  Words words{SP_PROGRAM, "xray"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// One line on stderr and nothing on stdout.
inline void expect_refused(const Words& more, int status, const std::string& says) {
  const Outcome outcome = run(xray_of(more));
  EXPECT_EQ(outcome.exit_status(), status) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace sp::end_to_end
