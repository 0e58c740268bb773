// A freezer (cgroup.freeze, a paused container) holds the program: nothing waits for it, and it
// goes on afterwards.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// A control group of version 2 with one process; not there where none can be made.
class Freezer {
 public:
  explicit Freezer(pid_t pid) {
    std::istringstream mounts(read_file("/proc/self/mounts"));
    std::string device;
    std::string where;
    std::string type;
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream words(line);
      words >> device >> where >> type;
      if (type == "cgroup2") {
        path_ = where + "/superprofiler-test-" + std::to_string(pid);
      }
    }
    std::error_code error;
    is_there_ = !path_.empty() && fs::create_directory(path_, error) &&
                write("cgroup.procs", std::to_string(pid)) && write("cgroup.freeze", "0");
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;
  ~Freezer() {
    (void)write("cgroup.freeze", "0");
    // Until its process is gone it stays.
    std::error_code error;
    for (int round = 0; round < 500 && !path_.empty() && !fs::remove(path_, error) && error;
         ++round) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  [[nodiscard]] bool is_there() const { return is_there_; }
  void hold() const {
    ASSERT_TRUE(write("cgroup.freeze", "1"));
    EXPECT_TRUE(eventually(
        [&] { return read_file(path_ + "/cgroup.events").find("frozen 1") != std::string::npos; }));
  }
  void let_go() const { ASSERT_TRUE(write("cgroup.freeze", "0")); }

 private:
  [[nodiscard]] bool write(const std::string& name, const std::string& text) const {
    std::ofstream file(path_ + "/" + name);
    file << text << std::flush;
    return file.good();
  }

  std::string path_;
  bool is_there_ = false;
};

class Frozen : public ::testing::TestWithParam<std::string> {
 protected:
  Words options(pid_t pid) {
    Words words = GetParam() == "default" ? Words{} : Words{GetParam()};
    words.insert(words.end(), {"-q", "-d", "1", "-p", std::to_string(pid)});
    return words;
  }
};

TEST_P(Frozen, is_left_alive_when_the_run_ends_meanwhile) {
  for (const bool at_attach : {false, true}) {
    const TempDir directory;
    Running program({target("steady"), "2"});
    ASSERT_TRUE(program.says("ready\n"));
    const Freezer freezer(program.pid());
    if (!freezer.is_there()) {
      program.close_input();
      GTEST_SKIP() << "no control group of version 2 can be made here";
    }
    if (at_attach) {
      freezer.hold();
    }
    Running profiler(superprofiler(directory, options(program.pid())));
    if (!at_attach) {
      std::this_thread::sleep_for(milliseconds(500));
      freezer.hold();
    }
    EXPECT_EQ(profiler.wait().exit_status(), 0) << at_attach;
    EXPECT_EQ(status_of(program.pid(), "TracerPid"), "0");
    EXPECT_EQ(changed_text(program.pid()), "");
    freezer.let_go();
    program.close_input();
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << at_attach << outcome.text();
    EXPECT_EQ(outcome.out, "ready\nright\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Frozen, ::testing::Values("default", "-a", "--single"),
                         [](const auto& each) {
                           return each.param == "-a"        ? std::string("all")
                                  : each.param == "default" ? std::string("default")
                                                            : std::string("single");
                         });

}  // namespace
}  // namespace sp::end_to_end
