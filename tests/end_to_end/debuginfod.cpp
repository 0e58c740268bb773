// Debug files from debuginfod servers, and the line that tells of downloads.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// A stripped program, and a server that has its debug file.
class Debuginfod : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("python3") || !has_program("objcopy")) {
      GTEST_SKIP() << "python3 or objcopy is not installed";
    }
    const Outcome doctor = run({SP_PROGRAM, "doctor"}, with_server("http://127.0.0.1:1"));
    if (doctor.out.find("libdebuginfod.so.1 is missing") != std::string::npos) {
      GTEST_SKIP() << "libdebuginfod1 is not installed";
    }
    std::filesystem::create_directory(folder_ / "served");
    std::filesystem::copy_file(target("steady"), program_);
    const auto file = core::MappedFile::open(program_);
    ASSERT_TRUE(file);
    const auto image = core::ElfImage::parse(*file);
    ASSERT_TRUE(image);
    id_ = (*image)->build_id();
    ASSERT_FALSE(id_.empty());
    ASSERT_EQ(run({"objcopy", "--only-keep-debug", target("steady"), folder_ / ("served/" + id_)})
                  .exit_status(),
              0);
    ASSERT_EQ(run({"objcopy", "--strip-all", target("steady"), program_}).exit_status(), 0);
  }

  [[nodiscard]] Running serve(const std::string& mode = "serve") const {
    return Running({"python3", SP_SOURCE_DIR "/tests/end_to_end/debuginfod_server.py",
                    folder_ / "served", mode});
  }
  static std::string url_of(const Running& server) {
    EXPECT_TRUE(server.says("\n"));
    return "http://127.0.0.1:" + server.out().substr(5, server.out().find('\n') - 5);
  }
  [[nodiscard]] StartOptions with_server(const std::string& url, int timeout = 2) const {
    StartOptions start;
    start.input = "";
    start.environment = {"DEBUGINFOD_URLS=" + url, "DEBUGINFOD_TIMEOUT=" + std::to_string(timeout),
                         "DEBUGINFOD_CACHE_PATH=" + folder_ / "cache"};
    return start;
  }
  [[nodiscard]] Words busy() const { return {program_, "1", "0"}; }
  /// A run of the stripped program for half a second.
  [[nodiscard]] Profiled profiled(StartOptions start, const Words& more = {}) const {
    Running steady(busy());
    EXPECT_TRUE(steady.says("ready\n"));
    Words options{"-n", "-d", "500ms", "--overwrite", "-p", std::to_string(steady.pid())};
    options.insert(options.end(), more.begin(), more.end());
    return profile(folder_, options, {}, start);
  }
  static std::size_t notes_in(const std::string& err) {
    std::size_t count = 0;
    for (std::size_t at = err.find("debuginfod:"); at != std::string::npos;
         at = err.find("debuginfod:", at + 1)) {
      ++count;
    }
    return count;
  }

  TempDir folder_;
  std::string program_ = folder_ / "steady";
  std::string id_;
};

TEST_F(Debuginfod, names_a_stripped_program_and_its_lines) {
  const Running server = serve();
  const auto with = profiled(with_server(url_of(server)));
  EXPECT_GT(with.files.total_of("work"), with.files.samples() / 2) << with.outcome.text();
  bool has_line = false;
  for (const FunctionRow& row : with.files.functions()) {
    has_line = has_line || row.source.find("steady.c:") != std::string::npos;
  }
  EXPECT_TRUE(has_line);
  EXPECT_EQ(notes_in(with.outcome.err), 0U) << with.outcome.text();
  EXPECT_TRUE(server.says(id_ + "\n"));
}

TEST_F(Debuginfod, is_not_asked_without_the_variable_or_for_what_is_here) {
  const Running server = serve();
  const std::string url = url_of(server);
  const auto without = profiled({});
  EXPECT_EQ(without.files.total_of("work"), 0U);
  const std::string local = folder_ / ("debug/.build-id/" + id_.substr(0, 2));
  std::filesystem::create_directories(local);
  std::filesystem::copy_file(folder_ / ("served/" + id_), local + "/" + id_.substr(2) + ".debug");
  const auto with = profiled(with_server(url), {"--debug-dir", folder_ / "debug"});
  EXPECT_GT(with.files.total_of("work"), 0U) << with.outcome.text();
  EXPECT_EQ(server.out().find(id_), std::string::npos) << server.out();
}

TEST_F(Debuginfod, that_is_dead_or_hangs_costs_one_note) {
  const Running server = serve("hang");
  for (const std::string& url : {std::string("http://127.0.0.1:1"), url_of(server)}) {
    const auto begun = std::chrono::steady_clock::now();
    const auto with = profiled(with_server(url));
    EXPECT_EQ(notes_in(with.outcome.err), 1U) << with.outcome.text();
    EXPECT_TRUE(with.files.complete());
    EXPECT_GT(with.files.samples(), 0U);
    EXPECT_LT(std::chrono::steady_clock::now() - begun,
              std::chrono::seconds(30 * patience_factor()));
  }
}

TEST_F(Debuginfod, is_given_up_at_ctrl_c) {
  const Running server = serve("hang");
  Running steady(busy());
  ASSERT_TRUE(steady.says("ready\n"));
  Running running(superprofiler(folder_, {"-n", "-d", "300ms", "-p", std::to_string(steady.pid())}),
                  with_server(url_of(server), 100));
  // The library makes it before it asks.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "cache"); }));
  EXPECT_EQ(state_of(steady.pid(), steady.pid()), 'S') << "the target waits for a download";
  running.signal(SIGINT);
  EXPECT_TRUE(running.reports("debuginfod: interrupted"));
  EXPECT_TRUE(running.wait().wait_status);
  EXPECT_TRUE(RunFiles(folder_ / "run").complete());
}

TEST_F(Debuginfod, names_dumps_and_lists_of_functions) {
  const Running server = serve();
  const StartOptions start = with_server(url_of(server));
  Running steady(busy());
  ASSERT_TRUE(steady.says("ready\n"));
  const Outcome dump = run({SP_PROGRAM, "dump", "-p", std::to_string(steady.pid())}, start);
  EXPECT_NE(dump.out.find("work"), std::string::npos) << dump.out << dump.err;
  const Outcome listed = run({SP_PROGRAM, "symbols", program_, "-o", "-"}, start);
  EXPECT_NE(listed.out.find("add_up"), std::string::npos) << listed.out << listed.err;
}

TEST_F(Debuginfod, is_told_by_the_doctor) {
  EXPECT_NE(run({SP_PROGRAM, "doctor"}).out.find("DEBUGINFOD_URLS is not set"), std::string::npos);
  const Outcome asked = run({SP_PROGRAM, "doctor"}, with_server("http://127.0.0.1:1"));
  EXPECT_NE(asked.out.find("http://127.0.0.1:1"), std::string::npos) << asked.out;
}

/// What a command writes to a terminal of its own.
std::string on_terminal(const std::string& command, const StartOptions& start) {
  return run({"script", "-qec", command, "/dev/null"}, start).out;
}

TEST_F(Debuginfod, has_a_progress_line_on_a_terminal_only) {
  if (!has_program("script")) {
    GTEST_SKIP() << "script is not installed";
  }
  const Running server = serve("slow");
  StartOptions start = with_server(url_of(server));
  const std::string command =
      std::string(SP_PROGRAM) + " symbols " + program_ + " -o " + (folder_ / "functions.tsv");
  const std::string shown = on_terminal(command, start);
  const auto at = shown.find("\r\x1b[2Ksuperprofiler: downloading debug information of ");
  ASSERT_NE(at, std::string::npos) << shown;
  const auto last = shown.rfind("\r\x1b[2K");
  EXPECT_EQ(shown.find("downloading", last), std::string::npos) << "left on the screen: " << shown;
  for (const std::string option : {" --no-progress", ""}) {
    std::filesystem::remove_all(folder_ / "cache");
    const std::string without = option.empty() ? run({"sh", "-c", command}, start).err
                                               : on_terminal(command + option, start);
    EXPECT_EQ(without.find("downloading"), std::string::npos) << without;
  }
}

}  // namespace
}  // namespace sp::end_to_end
