#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX's

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace sp::test {

/// A temporary folder, removed at the end of its test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = testing::TempDir() + "superprofiler-XXXXXX";
    path_ = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Writes path()/name and creates its folders.
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string write(const std::string& name, std::span<const std::byte> bytes) const {
    return write(name,
                 {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()});
  }

 private:
  std::string path_;
};

}  // namespace sp::test
