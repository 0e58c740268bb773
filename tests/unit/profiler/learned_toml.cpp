#include "profiler/formats/learned_toml.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "symbols/filters_file.h"

namespace sp::profiler {
namespace {

SymbolRow row(const std::string& name, const std::string& learned) {
  SymbolRow row;
  row.module = "/opt/a+b/prog";
  row.build_id = "c0ffee";
  row.linkage_name = name;
  row.demangled_name = name.empty() ? "prog+0x10" : name;
  row.reason = "default";
  row.learned = learned;
  return row;
}

std::string written(const std::vector<SymbolRow>& rows) {
  std::ostringstream out;
  write_learned(out, rows, {"prog 'a b'", std::chrono::system_clock::from_time_t(1'700'000'000)});
  return out.str();
}

TEST(LearnedToml, is_a_filters_file_of_the_learned_functions) {
  SymbolRow earlier = row("old", "");
  earlier.reason = "learned: 7 calls/s, 1 % of cost";
  const std::string text = written({row("kept", ""), row("f$1", "learned: 9 calls/s, 50 % of cost"),
                                    row("f$1", "learned: 1 calls/s, 2 % of cost"), earlier});
  EXPECT_EQ(text,
            "# Functions that cost too much to be traced, as superprofiler --learn has found.\n"
            "# Use: superprofiler --trace --filters learned.toml -- CMD\n"
            "# command: prog 'a b'\n"
            "# date: 2023-11-14T22:13:20Z\n"
            "# /opt/a+b/prog: build-id c0ffee\n"
            "\n[[block]]\n"
            "rule_name = \"learned: 9 calls/s, 50 % of cost\"\n"
            "function_linkage_name = \"f\\\\$1\"\n"
            "module = \"\\\\/opt\\\\/a\\\\+b\\\\/prog\"\n"
            "\n[[block]]\n"
            "rule_name = \"learned: 7 calls/s, 1 % of cost\"\n"
            "function_linkage_name = \"old\"\n"
            "module = \"\\\\/opt\\\\/a\\\\+b\\\\/prog\"\n");
}

TEST(LearnedToml, is_read_back_whatever_the_names_are) {
  const std::string odd = "a\"b\\c\n[x]{1,2}\xff*^|.(é)";
  const std::string text = written(
      {row(odd, "learned: 9"), row("", "learned: 8"), row(std::string(5'000, 'x'), "learned: 7")});
  symbols::FilterRules rules;
  std::vector<std::string> notes;
  const auto read = symbols::read_filters_file("learned.toml", text, rules, notes);
  ASSERT_TRUE(read) << read.error().message() << text;
  ASSERT_EQ(rules.block.size(), 1U) << text;
  EXPECT_EQ(rules.block[0].name, "learned: 9");
  symbols::FunctionFacts facts;
  facts.module = "/opt/a+b/prog";
  facts.linkage_name = odd;
  EXPECT_TRUE(rules.block[0].matches(facts));
  facts.module = "/opt/aab/prog";
  EXPECT_FALSE(rules.block[0].matches(facts));
  EXPECT_NE(text.find("\n# prog+0x10: learned: 8, and it has no name"), std::string::npos) << text;
}

}  // namespace
}  // namespace sp::profiler
