#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "end_to_end/profiled.h"

/// superprofiler whose own calls fail: what it is told to send, and what it says of that.
namespace sp::end_to_end {

/// The Nth call of a function of superprofiler's fails.
struct Fault {
  std::string call;
  int error = 0;
  std::string on{};  // a part of the file's path; "": of all files
  int times = 1;     // so many calls from it on
};

/// Where the preloaded library says how many of these calls there were.
inline std::string report_in(const TempDir& directory) { return directory / "calls"; }

/// The environment in which it does. N = 0: nothing fails.
inline StartOptions failing(const TempDir& directory, const Fault& fault, int call) {
  StartOptions how;
  how.environment = {
      "LD_PRELOAD=" + target("libfails_at_call.so"), "FAIL_CALL=" + fault.call,
      "FAIL_ERRNO=" + std::to_string(fault.error),   "FAIL_AT=" + std::to_string(call),
      "FAIL_TIMES=" + std::to_string(fault.times),   "FAIL_REPORT=" + report_in(directory),
      "ASAN_OPTIONS=verify_asan_link_order=0"};
  if (!fault.on.empty()) {
    how.environment.push_back("FAIL_ON=" + fault.on);
  }
  return how;
}

/// There were so many of them at least, or nothing has failed: on a machine that is too busy for a
/// second one.
inline void expect_failed(const TempDir& directory, int call) {
  const std::string said = read_file(report_in(directory));
  const int calls = said.empty() ? 0 : std::stoi(said);
  if (calls > 0 && calls < call) {
    GTEST_SKIP() << "there were " << calls << " calls, so that none has failed";
  }
  EXPECT_GE(calls, call);
}

struct TreeSums {
  std::uint64_t calls = 0;
  std::uint64_t samples = 0;
  bool operator==(const TreeSums&) const = default;
};

inline std::uint64_t number_of(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end()) {
    return 0;
  }
  return found->is_string() ? std::stoull(found->get<std::string>()) : found->get<std::uint64_t>();
}

inline void add_nodes(const nlohmann::json& node, TreeSums& sums) {
  sums.calls += number_of(node, "nCalls");
  sums.samples += number_of(node, "self");
  for (const auto& callee : node.value("callees", nlohmann::json::array())) {
    add_nodes(callee, sums);
  }
}

/// Calls of a function in a tree with names.
inline std::uint64_t calls_in(const nlohmann::json& node, const std::string& function) {
  std::uint64_t calls = node.value("name", "") == function ? number_of(node, "nCalls") : 0;
  for (const auto& callee : node.value("callees", nlohmann::json::array())) {
    calls += calls_in(callee, function);
  }
  return calls;
}

/// Reads what is sent to DIR/socket, also if the connection breaks and another comes.
class PatientReader {
 public:
  explicit PatientReader(const TempDir& directory)
      : lines_(directory / "lines"),
        socket_(directory / "socket"),
        reader_({"python3", SP_SOURCE_DIR "/tests/end_to_end/patient_reader.py", socket_, lines_}) {
    EXPECT_TRUE(reader_.says("listening"));
  }
  [[nodiscard]] std::string address() const { return "unix:" + socket_; }
  /// It has got the end of the run, which may still be on its way.
  [[nodiscard]] bool has_end() {
    return eventually([this] { return reader_.ended(); }, std::chrono::seconds(5));
  }
  /// What it has added up, each profile once.
  [[nodiscard]] TreeSums sums() const {
    TreeSums sums;
    std::set<std::uint64_t> seen;
    std::istringstream lines(read_file(lines_));
    for (std::string line; std::getline(lines, line);) {
      const auto value = nlohmann::json::parse(line, nullptr, false);
      EXPECT_TRUE(value.is_object()) << line;
      if (value["type"] == "profile" && seen.insert(number_of(value["data"], "seq")).second) {
        add_nodes(value["data"]["tree"], sums);
      }
    }
    return sums;
  }

 private:
  std::string lines_;
  std::string socket_;
  Running reader_;
};

inline nlohmann::json tree_of(const RunFiles& files) {
  return nlohmann::json::parse(read_file(files.directory() + "/tree.json"), nullptr, false);
}

/// The reader has all of tree.json, or superprofiler has said that it has not.
inline void expect_truth(PatientReader& reader, const Outcome& outcome, const RunFiles& files) {
  const auto tree = tree_of(files);
  ASSERT_TRUE(tree.is_object()) << outcome.text();
  if (outcome.err.find("has not got everything") != std::string::npos) {
    return;
  }
  TreeSums sums;
  add_nodes(tree["tree"], sums);
  EXPECT_TRUE(reader.has_end()) << outcome.text();
  EXPECT_EQ(reader.sums(), sums) << outcome.text();
}

}  // namespace sp::end_to_end
