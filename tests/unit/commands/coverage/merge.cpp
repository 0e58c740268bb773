// superprofiler coverage merge: what it refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "commands/coverage/coverage.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::coverage {
namespace {

namespace fs = std::filesystem;

TEST(MergeCommand, does_not_overwrite_a_run_that_it_joins) {
  const profiler::test::TemporaryDirectory directory;
  const std::string first = directory.path() + "/a";
  const std::string second = directory.path() + "/b";
  for (const std::string& run : {first, second}) {
    fs::create_directory(run);
    std::ofstream(run + "/coverage.tsv") << "of this run\n";
  }
  fs::create_symlink(second, directory.path() + "/link");
  for (const std::string& output : {second, second + "/", directory.path() + "/link"}) {
    cli::CoverageOptions options;
    options.merges = true;
    options.runs = {first, second + "/coverage.tsv"};
    options.output = output;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(options), 2);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("would be overwritten; name another one\n"), std::string::npos) << said;
    std::ostringstream text;
    text << std::ifstream(second + "/coverage.tsv").rdbuf();
    EXPECT_EQ(text.str(), "of this run\n");
  }
}

}  // namespace
}  // namespace sp::coverage
