#include "cli/texts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "cli/command_table.h"
#include "cli/option_table.h"
#include "parsing.h"

namespace sp::cli {
namespace {

std::set<std::string> long_options_in(const std::string& text) {
  const std::regex pattern(R"((^|[\s'"{,|(])--([a-z][a-z-]*))");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    names.insert((*match)[2]);
  }
  return names;
}

/// Of all commands, or of one.
std::set<std::string> table_names(std::optional<Command> command = std::nullopt) {
  std::set<std::string> names;
  for (const OptionRow& row : option_table()) {
    if (!command || row.is_for(*command)) {
      names.emplace(row.name);
    }
  }
  return names;
}

TEST(Help, names_exactly_the_options_that_the_parser_knows) {
  EXPECT_EQ(long_options_in(printed({"--help"}) + printed({"--trace", "--help"})),
            table_names(Command::record));
  for (const CommandRow& row : command_table()) {
    EXPECT_EQ(long_options_in(printed({std::string(row.name), "--help"})), table_names(row.command))
        << row.name;
  }
  for (const OptionRow& row : option_table()) {
    // An unknown option would be reported as such; a known one lacks at most its value or command.
    const Parsed outcome = parsed({"--" + std::string(row.name)});
    if (const auto* exit = std::get_if<PrintAndExit>(&outcome)) {
      EXPECT_EQ(exit->text.find("there is no option"), std::string::npos) << row.name;
    }
  }
}

TEST(Help, begins_with_examples_and_fits_a_terminal) {
  std::istringstream text(printed({"-h"}));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_TRUE(lines != 2 || line == "Examples") << line;
  }
  EXPECT_LE(lines, 64);
}

TEST(Help, wins_over_mistakes_beside_it) {
  EXPECT_EQ(printed({"--help", "--bogus"}), help_text());
  EXPECT_EQ(printed({"-i", "5", "-h", "ls"}), help_text());
  EXPECT_EQ(printed({"--tree", "--help"}), printed({"--trace", "--help"}));
}

TEST(Version, is_the_projects) {
  EXPECT_TRUE(std::regex_match(printed({"-V"}), std::regex(R"(superprofiler \d+\.\d+\.\d+\n)")));
}

TEST(OptionTable, has_unique_names_and_letters) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const OptionRow& row : option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.letter == '\0' || letters.insert(row.letter).second) << row.letter;
    EXPECT_EQ(row.completes == Completes::choices, !row.choices.empty()) << row.name;
    // These would end a quoted string in a completion script.
    EXPECT_EQ(row.help.find_first_of("'\"`$\\"), std::string_view::npos) << row.help;
  }
}

class Completions : public testing::TestWithParam<const char*> {};

TEST_P(Completions, know_every_option) {
  const std::string script = printed({"--completions", GetParam()});
  for (const OptionRow& row : option_table()) {
    const std::string spelled = GetParam() == std::string("fish") ? " -l " : "--";
    EXPECT_NE(script.find(spelled + std::string(row.name)), std::string::npos) << row.name;
    EXPECT_NE(script.find(row.choices), std::string::npos) << row.choices;
  }
  for (const CommandRow& row : command_table()) {
    EXPECT_NE(script.find(" " + std::string(row.name)), std::string::npos) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shells, Completions, testing::Values("bash", "zsh", "fish"));

/// By the headings of its options: ".BR -p ", " --pid " and the like.
std::set<std::string> options_on_page(const std::string& name) {
  std::ifstream in(SP_SOURCE_DIR "/docs/man/" + name + ".1");
  std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  std::set<std::string> names;
  const std::regex pattern(R"(\.TP\n\.B[RI]? (-\w ", " )?--([a-z-]+))");
  for (std::sregex_iterator match(page.begin(), page.end(), pattern), end; match != end; ++match) {
    names.insert((*match)[2]);
  }
  return names;
}

TEST(ManPages, name_exactly_the_options_of_their_command) {
  EXPECT_EQ(options_on_page("superprofiler"), table_names(Command::record));
  for (const CommandRow& row : command_table()) {
    EXPECT_EQ(options_on_page("superprofiler-" + std::string(row.name)), table_names(row.command))
        << row.name;
  }
}

}  // namespace
}  // namespace sp::cli
