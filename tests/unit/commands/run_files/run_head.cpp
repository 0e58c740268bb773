#include "commands/run_files/run_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace sp::run_files {
namespace {

profiler::ReportFact fact(const RunHead& head, const std::string& label) {
  const auto found = std::find_if(head.facts.begin(), head.facts.end(),
                                  [&](const auto& one) { return one.label == label; });
  EXPECT_NE(found, head.facts.end()) << label;
  return found == head.facts.end() ? profiler::ReportFact{} : *found;
}

TEST(RunHead, has_what_run_json_says_with_its_kinds) {
  std::ifstream file(std::string(SP_SOURCE_DIR) + "/tests/unit/profiler/golden/run.json");
  std::ostringstream text;
  text << file.rdbuf();
  const RunHead head = parse_head(text.str());
  EXPECT_EQ(fact(head, "Command").value.substr(0, 11), "demo --fast");
  EXPECT_EQ(fact(head, "Time").value,
            "12.346 s, from 2024-05-31T12:00:00.123Z to 2024-05-31T12:00:12.468Z");
  EXPECT_EQ(fact(head, "End").value, "target_exited, status 0");
  EXPECT_EQ(fact(head, "Samples").kind, "sampled");
  EXPECT_EQ(fact(head, "Lost").kind, "exact");
  EXPECT_EQ(fact(head, "Cost to the program").kind, "measured");
  EXPECT_NE(fact(head, "Cost to the program").value.find(" stops, "), std::string::npos);
}

TEST(RunHead, of_what_is_no_run_is_empty_or_unknown) {
  EXPECT_TRUE(parse_head("").facts.empty());
  EXPECT_TRUE(parse_head("[1]").facts.empty());
  const RunHead odd = parse_head(R"({"samples": 3, "cost": "x", "command": {"a": 1}, "notes": 7})");
  EXPECT_NE(fact(odd, "Cost to the program").value.find("overhead unknown"), std::string::npos);
  EXPECT_NE(fact(odd, "Samples").value.find("unknown"), std::string::npos);
}

}  // namespace
}  // namespace sp::run_files
