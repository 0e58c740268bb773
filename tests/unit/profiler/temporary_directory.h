#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace sp::profiler::test {

/// A new directory; the destructor removes it with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "sp-test-XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sp::profiler::test
