#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/elf_image.h"
#include "core/mapped_file.h"

namespace sp::test {

/// The names of the files that tests/fixtures/places/make.sh has made, which begin with `prefix`.
inline std::vector<std::string> left_fixtures(const std::string& prefix) {
  std::vector<std::string> names;
  const std::filesystem::path folder = SP_SOURCE_DIR "/tests/fixtures/places/files";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix)) {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

/// Null if it cannot be read.
inline std::shared_ptr<const core::ElfImage> left_fixture(const std::string& name) {
  const auto file = core::MappedFile::open(SP_SOURCE_DIR "/tests/fixtures/places/files/" + name);
  return file ? core::ElfImage::parse(*file).value_or(nullptr) : nullptr;
}

}  // namespace sp::test
