// Parameters by the names that debug information has.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "end_to_end/support.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

struct Counted {
  Outcome outcome;
  json table;

  /// Calls in groups of the only function whose `key` is `value`.
  [[nodiscard]] std::uint64_t calls(const std::string& key, const std::string& value) const {
    std::uint64_t calls = 0;
    for (const json& function : table.value("functions", json::array())) {
      for (const json& group : function.value("groups", json::array())) {
        calls += group.value(key, "") == value ? group["calls"].get<std::uint64_t>() : 0U;
      }
    }
    return calls;
  }
};

Counted count(const std::string& function, const Words& options,
              const std::string& program = target("named_parameters")) {
  const TempDir directory;
  Words words{SP_PROGRAM, "count", function, "--json", "-o", directory / "table"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", program});
  Counted counted{run(words), {}};
  counted.table = json::parse(read_file(directory / "table"), nullptr, false);
  return counted;
}

TEST(CountParameters, are_shown_by_name_with_their_own_types) {
  const auto counted = count("store", {"--args", "path,size,delta"});
  EXPECT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(counted.calls("path", "\"/even\""), 5U) << counted.table;
  EXPECT_EQ(counted.calls("size", "4000000000"), 5U) << counted.table;
  EXPECT_EQ(counted.calls("delta", "-3"), 1U) << counted.table;
}

TEST(CountParameters, are_all_shown_with_args_all) {
  const auto counted = count("store", {"--args", "all"});
  EXPECT_EQ(counted.calls("path", "\"/odd\""), 5U) << counted.table;
  EXPECT_EQ(counted.calls("level", "7"), 7U) << counted.table;
  EXPECT_EQ(counted.calls("share", "0.5"), 10U) << counted.table;
  EXPECT_NE(counted.outcome.err.find("float share"), std::string::npos) << counted.outcome.err;
}

TEST(CountParameters, stand_in_conditions_and_histograms) {
  const auto some = count("store", {"--args", "level:x", "--if", "size>4000000000 && delta<-4"});
  EXPECT_EQ(some.calls("level", "0x7"), 3U) << some.table;  // 5, 7 and 9
  const auto measured = count("store", {"--args", "size", "--hist"});
  EXPECT_EQ(measured.outcome.exit_status(), 0) << measured.outcome.text();
  EXPECT_NE(measured.table.dump().find("4000000001"), std::string::npos) << measured.table;
}

TEST(CountParameters, stand_behind_the_address_of_a_result) {
  const auto counted = count("make", {"--args", "seed"});
  EXPECT_EQ(counted.calls("seed", "4294967295"), 5U) << counted.table;
  EXPECT_EQ(counted.calls("seed", "4294967296"), 5U) << counted.table;
}

TEST(CountParameters, that_do_not_exist_are_usage_errors) {
  const auto wrong = count("store", {"--args", "pathh"}).outcome;
  EXPECT_EQ(wrong.exit_status(), 2) << wrong.text();
  EXPECT_NE(wrong.err.find("'pathh' is no parameter of store("), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("near: path"), std::string::npos) << wrong.err;
  const auto differing = count("/store|other/", {"--if", "size>1"}).outcome;
  EXPECT_EQ(differing.exit_status(), 0) << differing.text();  // the second of both
  const auto two = count("/store|other/", {"--args", "all"}).outcome;
  EXPECT_EQ(two.exit_status(), 2) << two.text();
  EXPECT_NE(two.err.find("different parameters"), std::string::npos) << two.err;
  const auto text = count("store", {"--if", "path==1"}).outcome;
  EXPECT_EQ(text.exit_status(), 2) << text.text();
}

TEST(CountParameters, need_debug_information) {
  if (!has_program("objcopy")) {
    GTEST_SKIP() << "objcopy is not installed";
  }
  const TempDir directory;
  const std::string program = directory / "program";
  ASSERT_EQ(run({"objcopy", "--strip-debug", target("named_parameters"), program}).exit_status(),
            0);
  const auto without = count("store", {"--args", "path"}, program).outcome;
  EXPECT_EQ(without.exit_status(), 2) << without.text();
  EXPECT_NE(without.err.find("no debug information"), std::string::npos) << without.err;
}

}  // namespace
}  // namespace sp::end_to_end
