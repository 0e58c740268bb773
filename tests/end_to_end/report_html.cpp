// report --html: the page's numbers are those of the run's files. tests/browser/ opens such pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// What the page has as JSON.
nlohmann::json head_of(const std::string& page) {
  const std::string begin = "id=\"data-head\">";
  const std::size_t at = page.find(begin);
  const std::size_t end = page.find("</script>", at);
  if (at == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << "no page: " << page.substr(0, 200);
    return nlohmann::json::object();
  }
  return nlohmann::json::parse(page.substr(at + begin.size(), end - at - begin.size()), nullptr,
                               false);
}

bool has_column(const std::string& page, const std::string& id) {
  const std::string begin = "id=\"data-" + id + "\">";
  const std::size_t at = page.find(begin);
  return at != std::string::npos && page[at + begin.size()] != '<';
}

/// Writes the page of DIR/run and reads it.
std::string page_of(const TempDir& directory) {
  const Outcome outcome = run({SP_PROGRAM, "report", "--html", directory / "run"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  const std::string file = directory / "run" + "/report.html";
  EXPECT_NE(outcome.err.find("next: xdg-open " + file), std::string::npos) << outcome.err;
  return read_file(file);
}

TEST(ReportHtml, has_the_numbers_of_the_run) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "300"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const std::string page = page_of(directory);
  const auto head = head_of(page);
  EXPECT_EQ(head.at("samples"), profiled.files.samples());
  std::size_t rows = 0;
  for (const auto& function : head.at("functions")) {
    rows += function.at(8).get<bool>() ? 1 : 0;
  }
  const auto functions = profiled.files.functions();
  EXPECT_EQ(rows, functions.size());
  for (const FunctionRow& row : functions) {
    const auto found = std::find_if(
        head.at("functions").begin(), head.at("functions").end(), [&](const auto& one) {
          return one.at(0) == row.function &&
                 head.at("modules").at(one.at(1).template get<std::size_t>()) == row.module;
        });
    ASSERT_NE(found, head.at("functions").end()) << row.function;
    EXPECT_EQ(found->at(4), row.self) << row.function;
    EXPECT_EQ(found->at(5), row.total) << row.function;
  }
  for (const char* const id : {"stacks", "blocks", "edges", "samples"}) {
    EXPECT_TRUE(has_column(page, id)) << id;
  }
  EXPECT_FALSE(head.at("timeline").at("threads").empty());
}

TEST(ReportHtml, has_the_code_of_the_hottest_function_with_samples_and_source) {
  const TempDir directory;
  const auto profiled = profile(directory, {"-n"}, {target("spin_shares"), "300"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const auto head = head_of(page_of(directory));
  ASSERT_FALSE(head.at("listings").empty());
  const auto& hottest = head.at("listings").at(0);
  EXPECT_EQ(hottest.at("name"), "spin_sixty");
  EXPECT_EQ(hottest.at("samples"), profiled.files.self_of("spin_sixty"));
  EXPECT_FALSE(hottest.at("files").empty());
  EXPECT_FALSE(hottest.at("lines").empty());
  EXPECT_TRUE(head.at("code").is_null());
  EXPECT_NE(head.at("absent").at("code").get<std::string>().find("--single"), std::string::npos);
}

TEST(ReportHtml, of_exact_counts_has_no_stacks_and_says_so) {
  const TempDir directory;
  const auto profiled = profile(directory, {"--single"}, {target("known_counts"), "1"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const std::string page = page_of(directory);
  const auto head = head_of(page);
  EXPECT_EQ(head.at("samples"), 0);
  EXPECT_FALSE(has_column(page, "stacks"));
  EXPECT_TRUE(has_column(page, "blocks"));
  EXPECT_NE(head.at("absent").at("stacks").get<std::string>().find("Nothing was sampled"),
            std::string::npos);
  EXPECT_EQ(head.at("code").at("kinds"), nlohmann::json({"exact"}));
  ASSERT_FALSE(head.at("listings").empty());
}

TEST(ReportHtml, of_separate_threads_has_no_rows_for_their_names) {
  const TempDir directory;
  const auto profiled = profile(directory, {"-n", "--by-thread"}, {target("spin_shares"), "100"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const auto head = head_of(page_of(directory));
  std::size_t rows = 0;
  for (const auto& function : head.at("functions")) {
    rows += function.at(8).get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(rows, profiled.files.functions().size());
  EXPECT_GT(head.at("functions").size(), rows);
}

TEST(ReportHtml, of_other_kinds_of_runs_is_a_page_that_names_their_files) {
  for (const auto& [option, names] :
       std::vector<std::pair<std::string, std::string>>{{"--trace", "report --trace"},
                                                        {"--tree", "tree.json"},
                                                        {"--coverage", "coverage.tsv"}}) {
    const TempDir directory;
    const auto profiled = profile(directory, {option}, {target("known_counts"), "1"});
    ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
    EXPECT_NE(head_of(page_of(directory)).at("notes").dump().find(names), std::string::npos)
        << option;
  }
}

TEST(ReportHtml, of_a_recording_alone_has_the_same_numbers) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "200"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const auto whole = head_of(page_of(directory));
  std::filesystem::create_directory(directory / "copy");
  std::filesystem::copy_file(directory / "run/recording.sp", directory / "copy/recording.sp");
  const Outcome outcome =
      run({SP_PROGRAM, "report", "--html", directory / "copy/recording.sp", "-o", "-"});
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.err, "");
  const auto alone = head_of(outcome.out);
  EXPECT_EQ(alone.at("functions"), whole.at("functions"));
  EXPECT_EQ(alone.at("facts"), whole.at("facts"));
}

TEST(ReportHtml, of_the_files_without_a_recording_lacks_the_time_line) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "200"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  std::filesystem::remove(directory / "run/recording.sp");
  const auto head = head_of(page_of(directory));
  EXPECT_TRUE(head.at("timeline").is_null());
  EXPECT_NE(head.at("absent").at("timeline").get<std::string>().find("recording.sp"),
            std::string::npos);
  EXPECT_EQ(head.at("samples"), profiled.files.samples());
}

TEST(ReportHtml, of_a_program_that_is_gone_lacks_its_code_and_says_so) {
  const TempDir directory;
  std::filesystem::copy_file(target("spin_shares"), directory / "gone");
  const auto profiled = profile(directory, {"-n"}, {directory / "gone", "100"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  std::filesystem::remove(directory / "gone");
  const auto head = head_of(page_of(directory));
  EXPECT_NE(head.at("notes").dump().find("the code of spin_sixty cannot be read"),
            std::string::npos)
      << head.at("notes");
}

TEST(ReportHtml, says_what_is_wrong) {
  const TempDir directory;
  const Outcome none = run({SP_PROGRAM, "report", "--html", directory / "run"});
  EXPECT_EQ(none.exit_status(), 125);
  EXPECT_NE(none.err.find("there is no run in"), std::string::npos) << none.err;
  const auto profiled = profile(directory, {"-n"}, {target("spin_shares"), "50"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const Outcome nowhere =
      run({SP_PROGRAM, "report", "--html", directory / "run", "-o", directory / "no/x.html"});
  EXPECT_EQ(nowhere.exit_status(), 125);
  EXPECT_NE(nowhere.err.find("/no/"), std::string::npos) << nowhere.err;
  const Outcome table = run({SP_PROGRAM, "report", directory / "run", "-o", "x.html"});
  EXPECT_EQ(table.exit_status(), 2);
  EXPECT_NE(table.err.find("-o is of --html"), std::string::npos) << table.err;
  if (has_program("script")) {
    const std::string command =
        std::string(SP_PROGRAM) + " report --html " + directory / "run" + " -o -";
    const Outcome terminal = run({"script", "-qec", command, "/dev/null"});
    EXPECT_EQ(terminal.exit_status(), 2);
    EXPECT_NE(terminal.out.find("stdout is a terminal"), std::string::npos) << terminal.out;
  }
}

}  // namespace
}  // namespace sp::end_to_end
