#include "cli/shell_words.h"

#include <gtest/gtest.h>

namespace sp::cli {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  auto words = split_shell_words(text);
  EXPECT_TRUE(words.has_value()) << text << ": " << words.error().message();
  return words.value_or(Words{});
}

std::string error_of(std::string_view text) {
  const auto words = split_shell_words(text);
  return words ? "" : words.error().message();
}

TEST(ShellWords, are_parted_by_blanks_tabs_and_newlines) {
  EXPECT_EQ(words_of("  a\tb \n c  "), (Words{"a", "b", "c"}));
}

TEST(ShellWords, keep_everything_within_single_quotes) {
  EXPECT_EQ(words_of(R"(a 'b "c" \d $e')"), (Words{"a", R"(b "c" \d $e)"}));
}

TEST(ShellWords, obey_only_the_posix_escapes_within_double_quotes) {
  EXPECT_EQ(words_of(R"("a\"b" "\$x \`y \\z" "\n")"), (Words{"a\"b", "$x `y \\z", "\\n"}));
}

TEST(ShellWords, quote_one_character_by_a_backslash) {
  EXPECT_EQ(words_of(R"(a\ b \'c \\)"), (Words{"a b", "'c", "\\"}));
}

TEST(ShellWords, are_joined_across_an_escaped_newline) {
  EXPECT_EQ(words_of("a\\\nb \"c\\\nd\""), (Words{"ab", "cd"}));
}

TEST(ShellWords, are_made_of_adjacent_pieces) {
  EXPECT_EQ(words_of(R"(--x='a b'"c d"e)"), (Words{"--x=a bc de"}));
}

TEST(ShellWords, may_be_empty_when_quoted) {
  EXPECT_EQ(words_of(R"(a '' "")"), (Words{"a", "", ""}));
}

TEST(ShellWords, are_not_expanded) {
  EXPECT_EQ(words_of("$HOME * ~ a;b |"), (Words{"$HOME", "*", "~", "a;b", "|"}));
}

TEST(ShellWords, refuse_a_quote_that_is_never_closed) {
  EXPECT_EQ(error_of("a 'b"), "-c: a ' is never closed; add the missing ', or quote it as \\'");
  EXPECT_EQ(error_of("a \"b\\\""),
            "-c: a \" is never closed; add the missing \", or quote it as \\\"");
}

TEST(ShellWords, refuse_a_backslash_at_the_end) {
  EXPECT_EQ(error_of("a \\"),
            "-c: the command ends with a \\ that quotes nothing; remove or double it");
}

TEST(ShellWords, refuse_an_empty_command) {
  EXPECT_EQ(error_of(""), "-c: the command is empty; give one: -c 'CMD ARGS...'");
  EXPECT_EQ(error_of(" \t\n"), error_of(""));
}

}  // namespace
}  // namespace sp::cli
