#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
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

/// Calls `visit` with each damaged copy of a fixture that is still an ELF file, and its size
/// before.
template <typename Visit>
void damage_fixture(const std::string& name, std::mt19937_64& random, Visit visit) {
  const auto image = left_fixture(name);
  ASSERT_NE(image, nullptr);
  const std::vector<std::byte> whole(image->bytes().begin(), image->bytes().end());
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bad = whole;
    if (round % 4 == 0) {
      bad.resize(random() % bad.size());
    }
    for (std::uint64_t k = random() % 16; k > 0 && !bad.empty(); --k) {
      bad[random() % bad.size()] = static_cast<std::byte>(random());
    }
    if (const auto damaged = core::ElfImage::parse(core::MappedFile::copy(std::move(bad)))) {
      visit(*damaged, whole.size());
    }
  }
}

}  // namespace sp::test
