// Options of superprofiler.toml and $SUPERPROFILER_OPTS.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// Runs the program in DIR/below, with a superprofiler.toml in DIR.
Outcome run_below(const TempDir& directory, const Words& options, const Words& environment) {
  ::mkdir((directory / "below").c_str(), 0777);
  Words words = {SP_PROGRAM};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "/bin/true"});
  StartOptions start;
  start.input = "/dev/null";
  start.directory = directory / "below";
  start.environment = environment;
  return run(words, start);
}

TEST(Settings, of_a_file_above_and_of_the_environment_are_used_and_told) {
  const TempDir directory;
  write_file(directory / "superprofiler.toml",
             "output = 'runs'\nname = 'file'\nno-instrumentation = true\n");
  const Outcome outcome =
      run_below(directory, {"--no-progress"}, {"SUPERPROFILER_OPTS=--name set"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_NE(read_file(directory / "runs/set/run.json"), "");
  EXPECT_NE(outcome.err.find("options from $SUPERPROFILER_OPTS: --name=set\n"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("/superprofiler.toml: --"), std::string::npos) << outcome.err;
  const Outcome typed = run_below(directory, {"-q", "--name", "typed"}, {"SUPERPROFILER_OPTS=-v"});
  EXPECT_EQ(typed.err, "");
  EXPECT_NE(read_file(directory / "runs/typed/run.json"), "");
}

TEST(Settings, that_are_wrong_start_nothing) {
  const TempDir directory;
  write_file(directory / "superprofiler.toml", "# mine\nintervall = '1ms'\n");
  const Outcome outcome = run_below(directory, {}, {});
  EXPECT_EQ(outcome.exit_status(), 2) << outcome.text();
  EXPECT_NE(outcome.err.find("superprofiler.toml:2: there is no option 'intervall'; did you mean "
                             "interval?\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(::access((directory / "below/output").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace sp::end_to_end
