#include "profiler/run_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <span>
#include <string>

#include "unit/profiler/file_size_limit.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::profiler {
namespace {

namespace fs = std::filesystem;
using test::FileSizeLimit;
using test::read_file;
using test::TemporaryDirectory;

const RunDirectory::Writer kHello = [](std::ostream& out) { out << "hello\n"; };

TEST(RunDirectory, makes_the_directories_that_are_missing) {
  const TemporaryDirectory temporary;
  auto run = RunDirectory::create(temporary.path() + "/a/b", "demo-1", false);
  ASSERT_TRUE(run) << run.error().message();
  const auto file = run->write("run.json", kHello);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->path, temporary.path() + "/a/b/demo-1/run.json");
  EXPECT_EQ(file->bytes, 6);
  EXPECT_EQ(read_file(file->path), "hello\n");
}

TEST(RunDirectory, knows_the_files_that_it_has_made) {
  const TemporaryDirectory temporary;
  fs::create_directory(temporary.path() + "/demo");
  std::ofstream(temporary.path() + "/demo/tree.json") << "old";
  auto run = RunDirectory::create(temporary.path(), "demo", true);
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->has_made("tree.json"));
  ASSERT_TRUE(run->write("run.json", kHello));
  ASSERT_TRUE(run->create_growing("trace.sp"));
  EXPECT_TRUE(run->has_made("run.json"));
  EXPECT_TRUE(run->has_made("trace.sp"));
  run->remove("trace.sp");
  EXPECT_FALSE(run->has_made("trace.sp"));
}

TEST(RunDirectory, refuses_a_run_that_exists_unless_told_to_overwrite) {
  const TemporaryDirectory temporary;
  fs::create_directory(temporary.path() + "/demo");
  std::ofstream(temporary.path() + "/demo/stranger") << "mine";
  const auto refused = RunDirectory::create(temporary.path(), "demo", false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("--overwrite"), std::string::npos);
  {
    auto run = RunDirectory::create(temporary.path(), "demo", true);
    ASSERT_TRUE(run);
    ASSERT_TRUE(run->write("run.json", kHello));
  }
  EXPECT_EQ(read_file(temporary.path() + "/demo/stranger"), "mine");
}

TEST(RunDirectory, refuses_names_that_would_lead_elsewhere) {
  const TemporaryDirectory temporary;
  for (const std::string name : {"", ".", "..", "a/b", "/etc", "new\nline"}) {
    EXPECT_FALSE(RunDirectory::create(temporary.path(), name, true)) << name;
  }
  EXPECT_FALSE(RunDirectory::create(temporary.path(), std::string(201, 'x'), true));
  EXPECT_TRUE(fs::is_empty(temporary.path()));
}

TEST(RunDirectory, finds_out_at_the_start_that_it_cannot_write) {
  const TemporaryDirectory temporary;
  std::ofstream(temporary.path() + "/file") << "x";
  const auto under_a_file = RunDirectory::create(temporary.path() + "/file", "demo", false);
  ASSERT_FALSE(under_a_file);
  EXPECT_EQ(under_a_file.error().code, ENOTDIR);
  EXPECT_FALSE(RunDirectory::create("/proc", "demo", false));
}

TEST(RunDirectory, finds_out_at_the_start_that_it_may_not_write) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "permissions do not stop root";
  }
  const TemporaryDirectory temporary;
  fs::create_directory(temporary.path() + "/demo");
  fs::permissions(temporary.path() + "/demo", fs::perms::owner_read | fs::perms::owner_exec);
  const auto refused = RunDirectory::create(temporary.path(), "demo", true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EACCES);
}

TEST(RunDirectory, an_empty_one_that_was_made_here_goes_away_again) {
  const TemporaryDirectory temporary;
  { ASSERT_TRUE(RunDirectory::create(temporary.path(), "demo", false)); }
  EXPECT_FALSE(fs::exists(temporary.path() + "/demo"));
  fs::create_directory(temporary.path() + "/old");
  { ASSERT_TRUE(RunDirectory::create(temporary.path(), "old", true)); }
  EXPECT_TRUE(fs::exists(temporary.path() + "/old"));
}

TEST(RunDirectory, a_file_that_cannot_be_written_whole_leaves_the_old_one) {
  const TemporaryDirectory temporary;
  auto run = RunDirectory::create(temporary.path(), "demo", false);
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->write("stacks.folded", kHello));
  core::Error error;
  {
    const FileSizeLimit limit(200000);
    const auto failed = run->write("stacks.folded", [](std::ostream& out) {
      for (int i = 0; i < 100000; ++i) {
        out << "main;work " << i << '\n';
      }
    });
    ASSERT_FALSE(failed);
    error = failed.error();
    EXPECT_TRUE(run->write("run.json", kHello)) << "smaller files still go through";
  }
  EXPECT_EQ(error.code, EFBIG);
  EXPECT_NE(error.doing.find("demo/stacks.folded"), std::string::npos);
  EXPECT_EQ(read_file(temporary.path() + "/demo/stacks.folded"), "hello\n");
  EXPECT_FALSE(fs::exists(temporary.path() + "/demo/.stacks.folded.partial"));
}

TEST(RunDirectory, does_not_write_through_a_link_that_stands_in_the_way) {
  const TemporaryDirectory temporary;
  auto run = RunDirectory::create(temporary.path(), "demo", false);
  ASSERT_TRUE(run);
  std::ofstream(temporary.path() + "/precious") << "keep";
  fs::create_symlink(temporary.path() + "/precious", run->path() + "/.run.json.partial");
  fs::create_symlink(temporary.path() + "/precious", run->path() + "/run.json");
  ASSERT_TRUE(run->write("run.json", kHello));
  EXPECT_EQ(read_file(temporary.path() + "/precious"), "keep");
  EXPECT_EQ(read_file(run->path() + "/run.json"), "hello\n");
}

TEST(RunDirectory, a_growing_file_never_ends_in_the_middle_of_a_piece) {
  const TemporaryDirectory temporary;
  auto run = RunDirectory::create(temporary.path(), "demo", false);
  ASSERT_TRUE(run);
  std::ofstream(temporary.path() + "/precious") << "keep";
  fs::create_symlink(temporary.path() + "/precious", run->path() + "/recording.sp");
  auto file = run->create_growing("recording.sp");
  ASSERT_TRUE(file) << file.error().message();
  const std::string piece(1000, 'x');
  const auto bytes = std::as_bytes(std::span(piece));
  ASSERT_TRUE((*file)->append(bytes));
  EXPECT_EQ(read_file(run->path() + "/recording.sp"), piece) << "it can be read at any time";
  {
    const FileSizeLimit limit(1500);
    const auto failed = (*file)->append(bytes);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, EFBIG);
    EXPECT_NE(failed.error().doing.find("demo/recording.sp"), std::string::npos);
    EXPECT_EQ(read_file(run->path() + "/recording.sp"), piece);
  }
  ASSERT_TRUE((*file)->append(bytes)) << "there is room again";
  ASSERT_TRUE((*file)->replace(0, bytes.first(0)));
  EXPECT_EQ(read_file(run->path() + "/recording.sp"), piece + piece);
  EXPECT_EQ((*file)->size(), 2000U);
  EXPECT_EQ(read_file(temporary.path() + "/precious"), "keep");
  EXPECT_TRUE((*file)->has_name());
  run->remove("recording.sp");
  EXPECT_FALSE((*file)->has_name());
}

TEST(RunDirectory, the_fallback_is_a_new_directory_under_tmpdir) {
  const TemporaryDirectory temporary;
  ::setenv("TMPDIR", temporary.path().c_str(), 1);
  const auto run = RunDirectory::create_fallback("demo");
  ::unsetenv("TMPDIR");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->path().rfind(temporary.path() + "/superprofiler-demo-", 0), 0);
}

}  // namespace
}  // namespace sp::profiler
