#include "core/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/fd.h"
#include "unit/symbols/scratch_folder.h"

namespace {

using sp::core::MappedFile;
using sp::core::UniqueFd;

std::string text_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

TEST(MappedFile, holds_the_files_bytes_after_the_file_is_gone) {
  const sp::test::ScratchFolder folder;
  const std::string path = folder.write("file", "hello");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.has_value());
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(**file), "hello");
}

TEST(MappedFile, maps_a_descriptor_and_leaves_it_open) {
  const sp::test::ScratchFolder folder;
  const UniqueFd fd(::open(folder.write("file", "hello").c_str(), O_RDONLY | O_CLOEXEC));
  const auto file = MappedFile::map(fd.get(), "file");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(text_of(**file), "hello");
  EXPECT_NE(::fcntl(fd.get(), F_GETFD), -1);
}

TEST(MappedFile, says_what_failed) {
  const sp::test::ScratchFolder folder;
  const auto missing = MappedFile::open(folder.path() + "/missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_EQ(missing.error().message(),
            "opening " + folder.path() + "/missing: No such file or directory");
  EXPECT_EQ(MappedFile::open(folder.path()).error().code, EINVAL);
  EXPECT_EQ(MappedFile::open(folder.write("empty", "")).error().code, EINVAL);
  EXPECT_EQ(MappedFile::open("/dev/null").error().code, EINVAL);
  EXPECT_EQ(MappedFile::map(-1, "x").error().code, EBADF);
}

// Opening a named pipe for reading would wait for a writer forever.
TEST(MappedFile, does_not_wait_for_a_pipe) {
  const sp::test::ScratchFolder folder;
  const std::string path = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(MappedFile::open(path).has_value());
}

TEST(MappedFile, keeps_a_copy) {
  std::vector<std::byte> bytes(5);
  std::memcpy(bytes.data(), "abcde", 5);
  EXPECT_EQ(text_of(*MappedFile::copy(bytes)), "abcde");
  EXPECT_TRUE(MappedFile::copy({})->bytes().empty());
}

}  // namespace
