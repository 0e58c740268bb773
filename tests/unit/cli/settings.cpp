// What superprofiler.toml and SUPERPROFILER_OPTS set.
#include "cli/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <variant>

#include "parsing.h"

namespace sp::cli {
namespace {

using Words = std::vector<std::string>;

Settings in_file(const std::string& text) {
  return {"", SettingsFile{"/work/project/superprofiler.toml", text}, {}};
}

Settings in_environment(const std::string& text) { return {text, std::nullopt, {}}; }

/// The words, joined by blanks; an error's message in angle brackets.
std::string merged(const Words& typed, const Settings& settings) {
  const auto set = with_settings(typed, settings);
  if (!set) {
    return "<" + set.error().message() + ">";
  }
  std::string all;
  for (const std::string& word : set->words) {
    all += (all.empty() ? "" : " ") + word;
  }
  return all;
}

TEST(Settings, stand_in_front_of_what_is_typed) {
  EXPECT_EQ(merged({"--", "prog", "-n"}, in_file("interval = '1ms'\nflame = true\nwall = false\n")),
            "--flame --interval=1ms -- prog -n");
  EXPECT_EQ(merged({"-n", "-p", "7"}, in_environment("-i 1ms --debug-dir '/a b'")),
            "--interval=1ms --debug-dir=/a b -n -p 7");
}

TEST(Settings, of_the_environment_override_the_files_and_typed_ones_both) {
  Settings both = in_file("interval = 300\noverhead = 5.5\ncolor = 'never'");
  both.environment = "--overhead 7 --color always";
  EXPECT_EQ(merged({"--color", "auto", "--", "x"}, both),
            "--overhead=7 --interval=300 --color auto -- x");
}

TEST(Settings, give_way_to_what_excludes_them) {
  EXPECT_EQ(merged({"-F", "99", "--", "x"}, in_file("interval = 300")), "-F 99 -- x");
  EXPECT_EQ(merged({"-n", "--", "x"}, in_environment("--single=step")), "-n -- x");
  EXPECT_EQ(merged({"-v", "--", "x"}, in_file("quiet = true")), "-v -- x");
}

TEST(Settings, are_for_the_command_that_has_the_option) {
  const Settings both = in_file("percent-limit = 3\nformat = 'pprof'\ninterval = 300");
  EXPECT_EQ(merged({"report", "RUN"}, both), "report --percent-limit=3 RUN");
  EXPECT_EQ(merged({"report", "--html"}, both), "report --html");
  EXPECT_EQ(merged({"convert"}, both), "convert --format=pprof");
  EXPECT_EQ(merged({"--", "report"}, both), "--interval=300 -- report");
}

TEST(Settings, of_what_a_run_writes_are_for_runs_alone) {
  const Settings both = in_file("output = '/runs'\nflame = true");
  EXPECT_EQ(merged({"--", "x"}, both), "--flame --output=/runs -- x");
  EXPECT_EQ(merged({"report"}, in_file("by-thread = true")), "report");
  EXPECT_EQ(merged({"convert", "-f", "csv"}, both), "convert -f csv");
  EXPECT_EQ(merged({"diff", "a", "b"}, both), "diff a b");
  EXPECT_EQ(merged({"diff", "a", "b"}, in_environment("-o /runs")), "diff a b");
}

TEST(Settings, of_optional_values_and_repeated_options) {
  EXPECT_EQ(merged({"--", "x"}, in_file("single = true")), "--single -- x");
  EXPECT_EQ(merged({"--", "x"}, in_file("single = 'step'")), "--single=step -- x");
  EXPECT_EQ(merged({"--", "x"}, in_environment("-s=step")), "--single=step -- x");
  EXPECT_EQ(merged({"--", "x"}, in_file("only-funcs = ['a', '/b+/']\n")),
            "--only-funcs=a --only-funcs=/b+/ -- x");
  EXPECT_EQ(merged({"--only-funcs", "c", "--", "x"}, in_file("only-funcs = ['a', 'b']\n")),
            "--only-funcs c -- x");
}

TEST(Settings, have_paths_relative_to_the_file) {
  ::setenv("SP_TEST_WHERE", "/there", 1);
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(merged({"--", "x"}, in_file("output = 'runs'")), "--output=/work/project/runs -- x");
  EXPECT_EQ(merged({"--", "x"}, in_file("output = '/runs'")), "--output=/runs -- x");
  EXPECT_EQ(merged({"--", "x"}, in_file("output = '~/runs'")), "--output=/home/me/runs -- x");
  EXPECT_EQ(merged({"--", "x"}, in_file("debug-dir = ['$SP_TEST_WHERE/d', '${SP_TEST_WHERE}2']")),
            "--debug-dir=/there/d --debug-dir=/there2 -- x");
  EXPECT_EQ(merged({"--", "x"}, in_file("only-instrument-execs = ['all', './lib.so']")),
            "--only-instrument-execs=all --only-instrument-execs=/work/project/./lib.so -- x");
  EXPECT_EQ(merged({"symbols", "x"}, in_file("filters = 'rules.toml'")),
            "symbols --filters=/work/project/rules.toml x");
}

TEST(Settings, that_are_wrong_name_their_place) {
  const std::string at = "</work/project/superprofiler.toml:";
  EXPECT_EQ(merged({"--", "x"}, in_file("\nintervall = 3")),
            at + "2: there is no option 'intervall'; did you mean interval?>");
  EXPECT_EQ(merged({"--", "x"}, in_file("pid = 3")),
            at + "1: --pid is for the command line only; remove it here>");
  EXPECT_EQ(merged({"--", "x"}, in_file("flame = 'yes'")),
            at + "1: flame is true or false; write flame = true>");
  EXPECT_EQ(merged({"--", "x"}, in_file("name = { a = 1 }")).substr(0, at.size() + 3), at + "1: ");
  EXPECT_EQ(merged({"--", "x"}, in_file("output = '$SP_TEST_UNSET/x'")),
            at + "1: output: the variable $SP_TEST_UNSET is not set>");
  EXPECT_EQ(merged({"--", "x"}, in_file("a = = 1")).substr(0, at.size() + 3), at + "1: ");
  EXPECT_EQ(merged({"--", "x"}, in_file("\n[.a]")), at + "2: a table's name is missing here>");
  EXPECT_EQ(merged({"--", "x"}, in_environment("--intervall=3")),
            "<$SUPERPROFILER_OPTS: there is no option --intervall; did you mean --interval?>");
  EXPECT_EQ(merged({"--", "x"}, in_environment("-- ls")),
            "<$SUPERPROFILER_OPTS: -- and a command are for the command line only; remove them>");
  EXPECT_EQ(merged({"--", "x"}, in_environment("-p 1")),
            "<$SUPERPROFILER_OPTS: --pid is for the command line only; remove it>");
  EXPECT_EQ(merged({"--", "x"}, in_environment("ls")), "<$SUPERPROFILER_OPTS: 'ls' is no option>");
}

TEST(Settings, that_are_wrong_do_not_hide_help) {
  EXPECT_EQ(merged({"--help"}, in_file("a = = 1")), "--help");
  EXPECT_EQ(merged({"--intervall", "1"}, in_file("a = = 1")), "--intervall 1");
}

TEST(Settings, are_told_before_the_run_and_in_errors) {
  const std::vector<const char*> argv = {"superprofiler", "--", "x"};
  const Parsed good = parse(3, argv.data(), in_environment("-i 1ms"));
  ASSERT_TRUE(std::holds_alternative<RecordOptions>(good));
  EXPECT_EQ(std::get<RecordOptions>(good).interval, std::chrono::milliseconds(1));
  EXPECT_EQ(std::get<RecordOptions>(good).notes,
            Words{"options from $SUPERPROFILER_OPTS: --interval=1ms"});
  const Parsed bad = parse(3, argv.data(), in_file("interval = 'x'"));
  ASSERT_TRUE(std::holds_alternative<PrintAndExit>(bad));
  const std::string text = std::get<PrintAndExit>(bad).text;
  EXPECT_NE(text.find("/work/project/superprofiler.toml: --interval=x"), std::string::npos) << text;
}

TEST(Settings, that_are_empty_change_nothing) {
  const Words typed = {"-n", "--", "x"};
  EXPECT_EQ(merged(typed, {}), "-n -- x");
  EXPECT_EQ(merged(typed, in_environment("  ")), "-n -- x");
  EXPECT_EQ(merged(typed, in_file("# nothing\n")), "-n -- x");
  EXPECT_EQ(merged({}, {}), "");
}

}  // namespace
}  // namespace sp::cli
