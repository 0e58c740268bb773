// A run's functions on stdout: the numbers are those of the run's own files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

nlohmann::json report(const TempDir& directory, const Words& options) {
  Words words{SP_PROGRAM, "report", directory / "run", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.err, "");
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

nlohmann::json row(const nlohmann::json& table, const std::string& name) {
  for (const auto& one : table.at("rows")) {
    if (one.at("name") == name) {
      return one;
    }
  }
  ADD_FAILURE() << "no " << name << " in " << table.dump(1);
  return {{"total_samples", 0}, {"self_samples", 0}, {"calls", 0}};
}

TEST(Report, has_the_numbers_of_the_run) {
  const TempDir directory;
  const auto profiled = profile(directory, {"--single"}, {target("known_counts"), "1"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const auto functions = report(directory, {"--percent-limit", "0", "--sort", "calls"});
  ASSERT_TRUE(functions.is_object());
  EXPECT_EQ(functions.at("samples"), profiled.files.samples());
  std::uint64_t calls = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (const FunctionRow& one : profiled.files.functions()) {
    calls += one.calls;
  }
  std::uint64_t reported = 0;
  for (const auto& one : functions.at("rows")) {
    const std::uint64_t own = one.at("calls").is_null() ? 0 : one.at("calls").get<std::uint64_t>();
    EXPECT_LE(own, last);
    last = own;
    reported += own;
  }
  EXPECT_GT(calls, 0U);
  EXPECT_EQ(reported, calls);
  // Everything that main calls has main for a caller.
  const auto callees = report(directory, {"--callees", "main", "--percent-limit", "0"});
  ASSERT_GT(callees.at("rows").size(), 0U);
  for (const auto& callee : callees.at("rows")) {
    if (callee.at("calls").is_null()) {
      continue;
    }
    EXPECT_EQ(callee.at("calls_kind"), "exact");
    const auto callers =
        report(directory, {"--callers", callee.at("name"), "--percent-limit", "0"});
    EXPECT_EQ(row(callers, "main").at("calls"), callee.at("calls")) << callee;
  }
}

TEST(Report, tells_where_the_time_goes) {
  const TempDir directory;
  const auto profiled = profile(directory, {"-n"}, {target("spin_shares"), "300"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const auto functions = report(directory, {});
  EXPECT_EQ(functions.at("rows").at(0).at("name"), "spin_sixty");
  EXPECT_EQ(row(functions, "spin_sixty").at("self_samples"), profiled.files.self_of("spin_sixty"));
  EXPECT_EQ(row(report(directory, {"--callers", "spin_sixty"}), "main").at("total_samples"),
            profiled.files.total_of("spin_sixty"));
  EXPECT_GT(row(report(directory, {"--by-module"}), target("spin_shares")).at("self_samples"),
            profiled.files.self_of("spin_sixty"));
  const Outcome text = run({SP_PROGRAM, "report", directory / "run"});
  EXPECT_NE(text.out.find(" spin_sixty "), std::string::npos) << text.text();
  EXPECT_NE(text.out.find("sampled, on-CPU, "), std::string::npos) << text.text();
}

TEST(Report, says_what_is_wrong) {
  const TempDir directory;
  const Outcome none = run({SP_PROGRAM, "report", directory / "run"});
  EXPECT_EQ(none.exit_status(), 125);
  EXPECT_NE(none.err.find("there is no run in"), std::string::npos) << none.err;
  const auto profiled = profile(directory, {"-n"}, {target("spin_shares"), "50"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const Outcome unknown =
      run({SP_PROGRAM, "report", directory / "run", "--callers", "spin_sixtie"});
  EXPECT_EQ(unknown.exit_status(), 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_NE(unknown.err.find("there are: "), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("spin_sixty"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace sp::end_to_end
