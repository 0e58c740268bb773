#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace sp::profiler::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares with golden/NAME. With SP_UPDATE_GOLDEN=1 it writes the file instead: check the
/// difference before committing it.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(SP_SOURCE_DIR) + "/tests/unit/profiler/golden/" + name;
  if (std::getenv("SP_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  EXPECT_EQ(read_file(path), text) << path;
}

}  // namespace sp::profiler::test
