#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/support.h"

/// Who gets the lines of --emit.
namespace sp::end_to_end {

/// A reader that listens at DIR/socket.
class EmitReader {
 public:
  EmitReader(const TempDir& directory, const std::string& way)
      : lines_(directory / "lines"),
        reader_({"python3", SP_SOURCE_DIR "/tests/end_to_end/emit_reader.py", directory / "socket",
                 lines_, way}) {
    EXPECT_TRUE(reader_.says("listening"));
  }
  /// What it has added up.
  nlohmann::json sums() {
    const Outcome outcome = reader_.wait();
    return nlohmann::json::parse(outcome.out.substr(outcome.out.find('\n') + 1), nullptr, false);
  }
  [[nodiscard]] std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream in(read_file(lines_));
    for (std::string line; std::getline(in, line);) {
      lines.push_back(nlohmann::json::parse(line, nullptr, false));
    }
    return lines;
  }
  [[nodiscard]] const std::string& path() const { return lines_; }

 private:
  std::string lines_;
  Running reader_;
};

inline std::size_t count(const std::vector<nlohmann::json>& lines, const std::string& type) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [&](const nlohmann::json& line) { return line["type"] == type; }));
}

inline bool can_check_schema() {
  return has_program("python3") && run({"python3", "-c", "import jsonschema"}).exit_status() == 0;
}

/// What is wrong with the lines, by docs/emit.schema.json; "" if nothing is.
inline std::string schema_error(const EmitReader& reader) {
  const Outcome checked =
      run({"python3", "-c",
           "import json,jsonschema,sys\n"
           "sys.setrecursionlimit(100000)\n"
           "check = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))\n"
           "for line in open(sys.argv[2]):\n"
           "    for error in check.iter_errors(json.loads(line)): sys.exit(error.message[:500])\n",
           SP_SOURCE_DIR "/docs/emit.schema.json", reader.path()});
  return checked.exit_status() == 0 ? "" : "wrong: " + checked.err;
}

}  // namespace sp::end_to_end
