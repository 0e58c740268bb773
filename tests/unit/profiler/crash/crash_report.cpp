#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "profiler/crash/crash_recorder.h"
#include "profiler/crash/signal_names.h"
#include "profiler/emitter/crash_line.h"
#include "profiler/formats/crash_json.h"
#include "unit/profiler/crash/crashes.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::profiler {
namespace {

namespace fs = std::filesystem;
using test::crash;
using test::crash_names;

TEST(SignalNames, are_those_of_the_headers) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGABRT), "SIGABRT");
  EXPECT_EQ(signal_name(40), "signal 40");
  EXPECT_EQ(signal_code_name(SIGSEGV, SEGV_ACCERR), "SEGV_ACCERR");
  EXPECT_EQ(signal_code_name(SIGBUS, BUS_ADRERR), "BUS_ADRERR");
  EXPECT_EQ(signal_code_name(SIGSEGV, SI_TKILL), "SI_TKILL");
  EXPECT_EQ(signal_code_name(SIGQUIT, 12345), "");
}

TEST(CrashJson, has_all_that_is_known) {
  Profile profile(false);
  test::add_modules(profile);
  test::TableNamer namer;
  crash_names(namer);
  NamedCrash named = name_crash(crash(), profile.modules(), namer);
  named.command = "demo --fast";
  std::ostringstream out;
  write_crash_json(out, {named, "0.1.0", "x86_64", core::TimePoint{}});
  test::expect_golden("crash.json", out.str());
}

TEST(CrashLine, names_call_sites_as_the_tree_does) {
  core::Module program = test::module(test::kProgram, core::ModuleKind::file, "/usr/bin/demo");
  TreeIds ids;
  ids.add(program);
  test::TableNamer namer;
  crash_names(namer);
  const NamedCrash named = name_crash(crash(), {program}, namer);
  const std::string line = crash_line(named, ids, true);
  const std::uint64_t base = program.base.value();
  EXPECT_TRUE(
      line.starts_with("{\"type\":\"event\",\"data\":{\"pid\":4711,\"signal\":\"SIGSEGV\","
                       "\"signal_number\":11,\"code\":1,\"address\":16,\"pc\":"))
      << line;
  // Inlined calls have no code of their own.
  EXPECT_EQ(line.find("inline_one"), std::string::npos) << line;
  EXPECT_NE(line.find("\"callSiteAddress\":" + std::to_string(base + 0x2010 - 1)),
            std::string::npos)
      << line;
  EXPECT_NE(line.find("\"name\":\"leaf\""), std::string::npos);
  EXPECT_NE(line.find("\"threads\":[{\"tid\":4713,\"name\":\"worker\",\"stackTrace\":["),
            std::string::npos)
      << line;
  EXPECT_EQ(crash_line(named, ids, false).find("\"name\":\"leaf\""), std::string::npos);
  EXPECT_EQ(killed_line(7, SIGKILL),
            "{\"type\":\"event\",\"data\":{\"pid\":7,\"signal\":\"SIGKILL\",\"signal_number\":9,"
            "\"code\":null,\"address\":null,\"stackTrace\":null,\"threads\":null}}\n");
}

class CrashRecorderTest : public testing::Test {
 protected:
  CrashRecorderTest() { crash_names(namer_); }
  RunDirectory directory() {
    auto made = RunDirectory::create(temporary_.path(), "demo", true);
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }
  [[nodiscard]] bool exists(const std::string& file) const {
    return fs::exists(temporary_.path() + "/demo/" + file);
  }
  test::TemporaryDirectory temporary_;
  test::TableNamer namer_;
  Profile profile_{false};
  WrittenCrashes crashes_;
  std::vector<WrittenFile> files_;
  std::vector<core::Error> failures_;
};

TEST_F(CrashRecorderTest, writes_a_file_a_process_at_once) {
  RunDirectory run = directory();
  CrashRecorder recorder(run);
  (void)recorder.add(crash(), {}, profile_, namer_);
  EXPECT_TRUE(exists("crash.json"));
  (void)recorder.add(crash(), {}, profile_, namer_);
  EXPECT_TRUE(exists("crash-2.json"));
  recorder.complete(crashes_, files_, failures_);
  ASSERT_EQ(files_.size(), 2U);
  EXPECT_EQ(files_[1].name, "crash-2.json");
  EXPECT_TRUE(failures_.empty());
  const auto texts = crash_texts(crashes_);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0],
            "crashed: SIGSEGV (SEGV_MAPERR) at 0x10 in inline_one (inline.h:3), thread 4711 "
            "\"demo\" of process 4711; all stacks: crash.json");
}

TEST_F(CrashRecorderTest, writes_no_more_than_a_hundred) {
  RunDirectory run = directory();
  CrashRecorder recorder(run);
  for (int i = 0; i < 103; ++i) {
    (void)recorder.add(crash(), {}, profile_, namer_);
  }
  recorder.complete(crashes_, files_, failures_);
  EXPECT_EQ(files_.size(), CrashRecorder::kMostFiles);
  EXPECT_FALSE(exists("crash-101.json"));
  EXPECT_EQ(crash_texts(crashes_).back(), "crashed: 100 more (crash-*.json)");
}

TEST_F(CrashRecorderTest, removes_those_of_an_earlier_run) {
  RunDirectory run = directory();
  for (const char* name : {"crash.json", "crash-2.json", "crash-9.json"}) {
    std::ofstream(temporary_.path() + "/demo/" + name) << "old";
  }
  CrashRecorder recorder(run);
  (void)recorder.add(crash(), {}, profile_, namer_);
  recorder.complete(crashes_, files_, failures_);
  EXPECT_TRUE(exists("crash.json"));
  EXPECT_FALSE(exists("crash-2.json"));
  EXPECT_FALSE(exists("crash-9.json"));
}

}  // namespace
}  // namespace sp::profiler
