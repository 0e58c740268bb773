#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

ConvertOptions converted(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<ConvertOptions>(&outcome);
  EXPECT_NE(options, nullptr) << words.back();
  return options == nullptr ? ConvertOptions{} : *options;
}

TEST(Convert, takes_a_run_a_format_and_a_file) {
  const ConvertOptions options = converted({"convert", "output/a-7", "-f", "pprof", "-o", "x.gz"});
  EXPECT_EQ(options.run, "output/a-7");
  EXPECT_EQ(options.format, "pprof");
  EXPECT_EQ(options.output, "x.gz");
}

TEST(Convert, takes_cuts_of_a_trace) {
  const ConvertOptions options = converted(
      {"convert", "-f", "chrome", "--from", "1.5", "--to", "2s", "--limit", "100", "--raw-times"});
  EXPECT_EQ(options.cuts.from, std::chrono::milliseconds(1500));
  EXPECT_EQ(options.cuts.to, std::chrono::seconds(2));
  EXPECT_EQ(options.cuts.limit, 100U);
  EXPECT_TRUE(options.cuts.raw_times);
  EXPECT_FALSE(converted({"convert", "-f", "chrome"}).cuts.are_given());
}

TEST(Convert, takes_the_newest_run_if_none_is_given) {
  EXPECT_EQ(converted({"convert", "--format=callgrind"}).run, "");
  EXPECT_EQ(converted({"convert", "-f", "csv", "--", "-odd-"}).run, "-odd-");
}

TEST(Convert, takes_the_format_from_the_name_of_the_file) {
  for (const auto& [file, format] :
       std::vector<std::pair<std::string, std::string>>{{"a.pb.gz", "pprof"},
                                                        {"d.x/callgrind.out.7", "callgrind"},
                                                        {"callgrind.lines.7", "callgrind-lines"},
                                                        {"a.speedscope.json", "speedscope"},
                                                        {"a.folded", "folded"},
                                                        {"a.svg", "svg"},
                                                        {"a.csv", "csv"},
                                                        {"a.fdata", "bolt"},
                                                        {"a.afdo", "autofdo"},
                                                        {"a.xray", "xray"}}) {
    EXPECT_EQ(converted({"convert", "r", "-o", file}).format, format);
  }
  EXPECT_EQ(converted({"convert", "r", "-o", "a.svg", "-f", "csv"}).format, "csv");
}

TEST(Convert, takes_a_module_for_formats_of_code) {
  EXPECT_EQ(converted({"convert", "r", "-f", "bolt", "--module", "libx.so.1"}).module, "libx.so.1");
  const Parsed refused = parsed({"convert", "r", "-f", "csv", "--module", "libx.so.1"});
  EXPECT_EQ(std::get<PrintAndExit>(refused).status, 2);
}

TEST(Convert, explains_itself) {
  const std::string help = printed({"convert", "--help"});
  EXPECT_TRUE(help.starts_with("superprofiler convert [RUN] -f FORMAT"));
  for (const char* format :
       {"callgrind", "speedscope", "pprof", "folded", "svg", "csv", "bolt", "autofdo"}) {
    EXPECT_NE(help.find(std::string("\n  ") + format), std::string::npos) << format;
  }
}

}  // namespace
}  // namespace sp::cli
