#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace sp::cli {

/// parse() of "superprofiler WORDS...".
inline Parsed parsed(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"superprofiler"};
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  const auto count = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return parse(count, argv.data());
}

inline RecordOptions record(const std::vector<std::string>& words) {
  Parsed outcome = parsed(words);
  if (auto* options = std::get_if<RecordOptions>(&outcome)) {
    return std::move(*options);
  }
  const auto* exit = std::get_if<PrintAndExit>(&outcome);
  ADD_FAILURE() << (exit != nullptr ? exit->text : "doctor");
  return {};
}

/// The text that is printed instead of starting anything; the text of a usage error.
inline std::string usage_error(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* exit = std::get_if<PrintAndExit>(&outcome);
  if (exit == nullptr) {
    ADD_FAILURE() << "was understood";
    return "";
  }
  EXPECT_EQ(exit->status, 2);
  EXPECT_EQ(exit->text.find('\n'), std::string::npos) << "one line: " << exit->text;
  return exit->text;
}

inline std::string printed(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* exit = std::get_if<PrintAndExit>(&outcome);
  if (exit == nullptr || exit->status != 0) {
    ADD_FAILURE() << (exit == nullptr ? "something would be started" : exit->text);
    return "";
  }
  return exit->text;
}

}  // namespace sp::cli
