#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "end_to_end/support.h"

namespace sp::end_to_end {

struct Calls {
  std::uint64_t calls = 0;
  std::uint64_t longest_ns = 0;                   // 0: none has a duration
  std::map<std::string, std::uint64_t> closings;  // those that there were
};

/// Of a run, by function.
inline std::map<std::string, Calls> calls_in(const std::string& directory) {
  const Outcome shown =
      run({SP_PROGRAM, "report", "--trace", directory, "--json", "--percent-limit", "0"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  std::map<std::string, Calls> calls;
  const nlohmann::json report = nlohmann::json::parse(shown.out, nullptr, false);
  for (const auto& row : report.value("rows", nlohmann::json::array())) {
    Calls& of = calls[row["name"]];
    of.calls = row["calls"];
    of.longest_ns = row["max_ns"].is_number() ? row["max_ns"].get<std::uint64_t>() : 0;
    for (const auto& [closing, number] : row["closings"].items()) {
      if (number != 0) {
        of.closings[closing] = number;
      }
    }
  }
  return calls;
}

}  // namespace sp::end_to_end
