#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

using Texts = std::vector<std::string>;

SymbolsOptions symbols(const Texts& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<SymbolsOptions>(&outcome);
  const auto* exit = std::get_if<PrintAndExit>(&outcome);
  EXPECT_NE(options, nullptr) << (exit != nullptr ? exit->text : "");
  return options == nullptr ? SymbolsOptions{} : *options;
}

TEST(Symbols, takes_a_file_and_rules) {
  const auto options =
      symbols({"symbols", "/bin/ls", "--filters", "a", "--filters", "b", "--attr-list", "l",
               "--only-funcs", "f(int, int),g", "--csv", ";", "--debug-dir", "/d", "-o", "x.csv"});
  EXPECT_EQ(options.binary, "/bin/ls");
  EXPECT_EQ(options.filters, (Texts{"a", "b"}));
  EXPECT_EQ(options.attr_lists, Texts{"l"});
  EXPECT_EQ(options.only_funcs, (Texts{"f(int, int)", "g"}));
  EXPECT_EQ(options.separator, ';');
  EXPECT_EQ(options.debug_dirs, Texts{"/d"});
  EXPECT_EQ(options.output, "x.csv");
  EXPECT_EQ(symbols({"symbols", "--", "-odd"}).binary, "-odd");
  EXPECT_EQ(symbols({"symbols", "a", "--csv", "\\t"}).separator, '\t');
  EXPECT_FALSE(symbols({"symbols", "a"}).separator.has_value());
  EXPECT_EQ(symbols({"symbols", "a", "--check", "a.debug"}).check, "a.debug");
}

TEST(Symbols, refuses_what_it_cannot_do) {
  EXPECT_EQ(usage_error({"symbols"}),
            "symbols needs a program or library: superprofiler symbols BIN");
  EXPECT_EQ(usage_error({"symbols", "a", "b"}),
            "symbols takes one file, 2 are given: superprofiler symbols BIN");
  EXPECT_EQ(usage_error({"symbols", ""}),
            "symbols: the name of the file is empty: superprofiler symbols BIN");
  for (const std::string separator : {"", "ab", "\"", "\n", "\xC3"}) {
    EXPECT_EQ(usage_error({"symbols", "a", "--csv", separator}),
              "--csv takes one character that separates cells, such as ';', and not a quote");
  }
  EXPECT_TRUE(usage_error({"symbols", "a", "--only-funcs", "/(/"}).starts_with("--only-funcs"));
  EXPECT_EQ(usage_error({"symbols", "a", "--check", "b", "-o", "c"}),
            "--check compares two files and writes no table; leave --output out");
  EXPECT_EQ(usage_error({"symbols", "a", "--check", ""}),
            "--check: the name of the file is empty; leave it out or give one");
  EXPECT_EQ(usage_error({"symbols", "a", "--filter", "b"}),
            "there is no option --filter; did you mean --filters?");
}

TEST(Symbols, explains_itself) {
  EXPECT_TRUE(printed({"symbols", "--help"}).starts_with("superprofiler symbols BIN"));
}

}  // namespace
}  // namespace sp::cli
