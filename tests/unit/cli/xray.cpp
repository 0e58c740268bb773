#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

XrayOptions xray(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<XrayOptions>(&outcome);
  EXPECT_NE(options, nullptr);
  return options != nullptr ? *options : XrayOptions{};
}

TEST(Xray, takes_a_file_or_a_process) {
  const XrayOptions file = xray({"xray", "./prog", "--yaml", "--debug-dir", "/d"});
  EXPECT_EQ(file.file, "./prog");
  EXPECT_FALSE(file.pid.has_value());
  EXPECT_TRUE(file.yaml);
  EXPECT_EQ(file.debug_dirs, std::vector<std::string>{"/d"});
  const XrayOptions process = xray({"xray", "-p", "7"});
  EXPECT_EQ(process.file, "");
  EXPECT_EQ(process.pid, 7);
  EXPECT_FALSE(process.yaml);
  EXPECT_EQ(xray({"xray", "--", "-odd-name"}).file, "-odd-name");
}

TEST(Xray, refuses_what_names_no_file_or_more_than_one) {
  const std::string usage = "superprofiler xray BIN, or superprofiler xray -p PID";
  EXPECT_EQ(usage_error({"xray"}), "xray needs a file or a process: " + usage);
  EXPECT_EQ(usage_error({"xray", "a", "b"}), "xray takes one file, 2 are given: " + usage);
  EXPECT_EQ(usage_error({"xray", "a", "-p", "7"}),
            "xray: a file and -p are both given; keep one: " + usage);
  EXPECT_NE(usage_error({"xray", ""}).find("is empty"), std::string::npos);
  EXPECT_NE(usage_error({"xray", "-p", "x"}).find("'x' is not a process id"), std::string::npos);
  EXPECT_NE(usage_error({"xray", "a", "--yml"}).find("did you mean --yaml?"), std::string::npos);
  EXPECT_NE(usage_error({"--yaml", "--", "ls"}).find("--yaml is an option of xray"),
            std::string::npos);
  EXPECT_NE(usage_error({"-q", "xray", "a"}).find("goes first: superprofiler xray BIN"),
            std::string::npos);
}

TEST(Xray, explains_itself) {
  EXPECT_TRUE(printed({"xray", "--help"}).starts_with("superprofiler xray BIN"));
}

}  // namespace
}  // namespace sp::cli
