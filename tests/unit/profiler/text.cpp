#include "profiler/text.h"

#include <gtest/gtest.h>

namespace sp::profiler {
namespace {

TEST(Text, keeps_valid_utf8_and_replaces_each_byte_that_is_not) {
  EXPECT_EQ(folded_name("größe→日本😀"), "größe→日本😀");
  EXPECT_EQ(folded_name("a\xFF\xC3z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(Text, refuses_overlong_forms_surrogates_and_a_cut_end) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(folded_name("\xC0\xAF"), bad + bad);
  EXPECT_EQ(folded_name("\xE0\x80\xAF"), bad + bad + bad);
  EXPECT_EQ(folded_name("\xED\xA0\x80"), bad + bad + bad);
  EXPECT_EQ(folded_name("\xF4\x90\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(folded_name("x\xE6\x97"), "x" + bad + bad);
}

TEST(Text, folded_names_cannot_break_a_line_or_a_stack) {
  EXPECT_EQ(folded_name("a;b\nc\rd\te\x7F"), "a:b?c?d?e?");
  EXPECT_EQ(folded_name("next\xC2\x85line\xE2\x80\xA8sep"), "next?line?sep");
  EXPECT_EQ(folded_name(""), "[unnamed]");
}

TEST(Text, tsv_cells_escape_what_separates_cells) {
  EXPECT_EQ(tsv_cell("a\tb\nc\rd\\e\x01"), "a\\tb\\nc\\rd\\\\e?");
}

TEST(Text, xml_text_cannot_become_markup) {
  EXPECT_EQ(xml_text("</script><b a=\"'\">&]]>"),
            "&lt;/script&gt;&lt;b a=&quot;&#39;&quot;&gt;&amp;]]&gt;");
  EXPECT_EQ(xml_text(std::string("\0\x1F\xEF\xBF\xBF", 5)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Text, json_strings_are_safe_inside_a_script_element) {
  EXPECT_EQ(json_string("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(json_string("</script>&]]>"), R"("\u003c/script\u003e\u0026]]\u003e")");
  EXPECT_EQ(json_string("\xE2\x80\xA8"), R"("\u2028")");
}

TEST(Text, elides_by_code_points) {
  EXPECT_EQ(elided("日本語", 3), "日本語");
  EXPECT_EQ(elided("日本語です", 4), "日本..");
  EXPECT_EQ(elided("abc", 1), ".");
  EXPECT_EQ(elided("日本語です", 4, "\u2026"), "日本語\u2026");
}

TEST(Text, folds_blanks_and_line_ends_to_one_blank) {
  EXPECT_EQ(folded_blanks("  a\n\n\tb  c\r\n"), "a b c");
  EXPECT_EQ(folded_blanks("größe\x01 日本"), "größe 日本");
  EXPECT_EQ(folded_blanks("\n"), "");
}

TEST(Text, groups_digits_for_people) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Text, base_name_is_what_follows_the_last_slash) {
  EXPECT_EQ(base_name("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(base_name("[vdso]"), "[vdso]");
}

}  // namespace
}  // namespace sp::profiler
