#include "commands/record/prune.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>

#include "core/fd.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::record {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

class Prune : public testing::Test {
 protected:
  /// A run whose files were written two hours ago.
  void make(const std::string& name, const std::string& end = "detached") {
    const fs::path run = directory() + "/" + name;
    fs::create_directory(run);
    std::ofstream(run / "run.json")
        << "{\n  \"superprofiler_version\": \"1\",\n  \"end\": \"" << end << "\"\n}\n";
    std::ofstream(run / "functions.tsv") << "module\n";
    fs::last_write_time(run / "run.json", fs::file_time_type::clock::now() - hours(2));
  }
  [[nodiscard]] std::string directory() const { return temporary_.path(); }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return fs::exists(directory() + "/" + name + "/functions.tsv");
  }

 private:
  profiler::test::TemporaryDirectory temporary_;
};

TEST_F(Prune, removes_finished_runs_that_are_old) {
  make("old");
  make("own");
  const Pruned young = prune_runs(directory(), directory() + "/own", hours(3));
  EXPECT_TRUE(young.removed.empty());
  const Pruned pruned = prune_runs(directory(), directory() + "/own", hours(1));
  EXPECT_EQ(pruned.removed, std::vector<std::string>{"old"});
  EXPECT_GT(pruned.bytes, 40U);
  EXPECT_TRUE(pruned.errors.empty());
  EXPECT_FALSE(fs::exists(directory() + "/old"));
  EXPECT_TRUE(is_there("own"));
}

TEST_F(Prune, leaves_alone_what_goes_on_and_what_is_no_run) {
  make("running", "running");
  make("locked");
  const core::UniqueFd lock(::open((directory() + "/locked").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(lock.get(), LOCK_SH), 0);
  make("nested");
  fs::create_directory(directory() + "/nested/inside");
  make("elsewhere");
  fs::rename(directory() + "/elsewhere", directory() + "/.elsewhere");
  fs::create_directory_symlink(directory() + "/.elsewhere", directory() + "/link");
  fs::create_directory(directory() + "/no_run");
  std::ofstream(directory() + "/no_run/functions.tsv") << "mine\n";
  const Pruned pruned = prune_runs(directory(), directory() + "/own", hours(1));
  EXPECT_EQ(pruned.removed, std::vector<std::string>{".elsewhere"});
  for (const char* name : {"running", "locked", "nested", "no_run"}) {
    EXPECT_TRUE(is_there(name)) << name;
  }
}

TEST_F(Prune, says_when_there_is_no_such_directory) {
  EXPECT_EQ(prune_runs(directory() + "/missing", "", hours(1)).errors.size(), 1U);
}

}  // namespace
}  // namespace sp::record
