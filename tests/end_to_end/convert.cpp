// One run, converted to every format; the sums are those of the run's own files.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// Converts DIR/run and returns the text of the file.
std::string converted(const TempDir& directory, const std::string& format,
                      const std::string& file) {
  const Outcome outcome = run({SP_PROGRAM, "convert", directory / "run", "-f", format});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("superprofiler: " + format + ": sampled, "), std::string::npos)
      << outcome.err;
  return read_file(directory / ("run/" + file));
}

void check_callgrind(const std::string& text, const RunFiles& files, const std::string& path) {
  std::smatch sums;
  ASSERT_TRUE(std::regex_search(text, sums, std::regex("\nsummary: (\\d+) (\\d+)\n"))) << text;
  EXPECT_EQ(std::stoull(sums[1]), files.run().at("counts").at("instructions"));
  EXPECT_EQ(std::stoull(sums[2]), files.samples());
  if (!has_program("callgrind_annotate")) {
    return;
  }
  const Outcome annotated = run({"callgrind_annotate", "--tree=both", "--auto=no", path});
  EXPECT_EQ(annotated.exit_status(), 0) << annotated.text();
  EXPECT_EQ(annotated.err, "") << "it warns of lines that it does not know";
  EXPECT_NE(annotated.out.find(":spin_sixty"), std::string::npos) << annotated.out;
}

void check_speedscope(const std::string& text, const RunFiles& files) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  EXPECT_EQ(json.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
  const auto frames = json.at("shared").at("frames").size();
  const auto& profile = json.at("profiles").at(0);
  EXPECT_EQ(profile.at("type"), "sampled");
  EXPECT_EQ(profile.at("unit"), "none");
  EXPECT_EQ(profile.at("startValue"), 0);
  EXPECT_EQ(profile.at("samples").size(), profile.at("weights").size());
  std::uint64_t sum = 0;
  for (const auto& weight : profile.at("weights")) {
    sum += weight.get<std::uint64_t>();
  }
  EXPECT_EQ(sum, files.samples());
  EXPECT_EQ(profile.at("endValue"), sum);
  for (const auto& stack : profile.at("samples")) {
    for (const auto& frame : stack) {
      EXPECT_LT(frame.get<std::size_t>(), frames);
    }
  }
}

void check_perf_script(const std::string& text, const RunFiles& files) {
  std::istringstream lines(text);
  const std::regex head(R"(^spin_shares (\d+)/\1 \d+\.\d{6}: +\d+ cpu-clock: $)");
  const std::regex frame(R"(^\t +[0-9a-f]+ \S.*(\+0x[0-9a-f]+ \(.+\)| \(.+\))$)");
  std::uint64_t samples = 0;
  std::uint64_t in_sixty = 0;
  bool is_leaf = false;
  for (std::string line; std::getline(lines, line);) {
    if (is_leaf) {
      in_sixty += line.find(" spin_sixty+0x") != std::string::npos ? 1 : 0;
    }
    is_leaf = std::regex_match(line, head);
    samples += is_leaf ? 1 : 0;
    EXPECT_TRUE(is_leaf || line.empty() || std::regex_match(line, frame)) << line;
  }
  EXPECT_EQ(samples, files.samples());
  EXPECT_EQ(in_sixty, files.self_of("spin_sixty"));
}

/// All columns of a table are as long as it says.
void check_table(const nlohmann::json& table, const std::string& name) {
  const auto length = table.at("length").get<std::size_t>();
  for (const auto& [key, column] : table.items()) {
    if (column.is_array()) {
      EXPECT_EQ(column.size(), length) << name << "." << key;
    }
  }
}

void check_firefox(const TempDir& directory, const RunFiles& files) {
  const Outcome unpacked = run({"gzip", "-dc", directory / "run/run.firefox.json.gz"});
  const auto json = nlohmann::json::parse(unpacked.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << unpacked.text();
  EXPECT_EQ(json.at("meta").at("version"), 24);
  EXPECT_EQ(json.at("meta").at("preprocessedProfileVersion"), 66);
  const auto& shared = json.at("shared");
  for (const char* name : {"stackTable", "frameTable", "funcTable", "nativeSymbols",
                           "resourceTable", "sources", "sourceLocationTable"}) {
    check_table(shared.at(name), name);
  }
  const auto& stacks = shared.at("stackTable");
  const auto& frames = shared.at("frameTable");
  const auto& functions = shared.at("funcTable");
  const auto strings = shared.at("stringArray").size();
  for (std::size_t i = 0; i < stacks.at("length"); ++i) {
    EXPECT_LE(stacks.at("prefixOffset").at(i).get<std::size_t>(), i);
    EXPECT_LT(stacks.at("frame").at(i), frames.at("length"));
  }
  for (std::size_t i = 0; i < frames.at("length"); ++i) {
    EXPECT_LT(frames.at("func").at(i), functions.at("length"));
    EXPECT_LT(frames.at("category").at(i), json.at("meta").at("categories").size());
  }
  for (std::size_t i = 0; i < functions.at("length"); ++i) {
    EXPECT_LT(functions.at("name").at(i), strings);
    EXPECT_LT(functions.at("resource").at(i).get<std::int64_t>(),
              shared.at("resourceTable").at("length").get<std::int64_t>());
  }
  ASSERT_EQ(json.at("threads").size(), 1U);
  const auto& thread = json.at("threads").at(0);
  EXPECT_EQ(thread.at("name"), "spin_shares");
  EXPECT_EQ(thread.at("isMainThread"), true);
  const auto& samples = thread.at("samples");
  check_table(samples, "samples");
  EXPECT_EQ(samples.at("length"), files.samples());
  double last = 0;
  for (const auto& delta : samples.at("timeDeltas")) {
    EXPECT_GE(delta.get<double>(), 0);
    last += delta.get<double>();
  }
  EXPECT_LT(last, files.run().at("elapsed_seconds").get<double>() * 1000 + 1);
  for (const auto& stack : samples.at("stack")) {
    EXPECT_LT(stack, stacks.at("length"));
  }
}

void check_chrome(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text.substr(0, 1000);
  std::vector<std::string> open;
  double last = 0;
  std::size_t slices = 0;
  for (const auto& event : json.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "M") {
      continue;
    }
    EXPECT_EQ(event.at("cat"), "sampled");
    EXPECT_GE(event.at("ts").get<double>(), last);
    last = event.at("ts").get<double>();
    if (phase == "B") {
      open.push_back(event.at("name"));
      ++slices;
      continue;
    }
    ASSERT_EQ(phase, "E");
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(event.at("name"), open.back());
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
  EXPECT_GT(slices, 2U);
}

TEST(Convert, gives_each_format_the_sums_of_the_run) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "1500"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  ASSERT_GT(profiled.files.samples(), 0U);
  check_callgrind(converted(directory, "callgrind", "callgrind.out.run"), profiled.files,
                  directory / "run/callgrind.out.run");
  check_speedscope(converted(directory, "speedscope", "run.speedscope.json"), profiled.files);
  EXPECT_TRUE(converted(directory, "pprof", "run.pb.gz").starts_with("\x1f\x8b"));
  EXPECT_EQ(converted(directory, "folded", "run.folded"),
            read_file(directory / "run/stacks.folded"));
  EXPECT_NE(converted(directory, "svg", "run.svg").find("spin_sixty"), std::string::npos);
  EXPECT_NE(converted(directory, "csv", "run.csv").find(",spin_sixty,"), std::string::npos);
  check_perf_script(converted(directory, "perf-script", "run.perf.txt"), profiled.files);
  EXPECT_TRUE(converted(directory, "firefox", "run.firefox.json.gz").starts_with("\x1f\x8b"));
  check_firefox(directory, profiled.files);
  check_chrome(converted(directory, "chrome", "run.trace.json"));
  (void)converted(directory, "perfetto", "run.perfetto-trace");
  if (has_program("protoc")) {
    StartOptions start;
    start.input = directory / "run/run.perfetto-trace";
    const Outcome decoded = run({"protoc", "--decode_raw"}, start);
    EXPECT_EQ(decoded.exit_status(), 0) << decoded.text();
    EXPECT_NE(decoded.out.find("spin_sixty"), std::string::npos);
  }
  if (has_program("go")) {
    StartOptions start;
    start.environment = {"HOME=" + directory.path()};
    const Outcome top = run({"go", "tool", "pprof", "-top", "-sample_index=samples", "-nodecount=1",
                             directory / "run/run.pb.gz"},
                            start);
    EXPECT_EQ(top.exit_status(), 0) << top.text();
    EXPECT_NE(top.out.find(" of " + std::to_string(profiled.files.samples()) + " total"),
              std::string::npos)
        << top.out;
  }
}

TEST(Convert, writes_where_it_is_told_and_says_what_is_not_there) {
  const TempDir directory;
  std::filesystem::create_directories(directory / "output/demo");
  write_file(directory / "output/demo/run.json",
             R"({"name": "demo", "samples": {"total": 5, "with_stack": 5}, "modules": []})");
  write_file(directory / "output/demo/functions.tsv",
             "module\tfunction\tsource\tself_samples\ttotal_samples\tcalls\tcalls_kind\n");
  write_file(directory / "output/demo/stacks.folded", "main;f 4\nmain 1");
  const auto convert = [&](Words words) {
    words.insert(words.begin(), {SP_PROGRAM, "convert"});
    StartOptions start;
    start.directory = directory.path();
    return run(words, start);
  };
  const Outcome cut = convert({"-f", "folded", "-o", "-"});  // the newest run
  EXPECT_EQ(cut.exit_status(), 0) << cut.text();
  EXPECT_EQ(cut.out, "main;f 4\n");
  EXPECT_NE(cut.err.find("stacks.folded is damaged in line 2; what stands before that"),
            std::string::npos)
      << cut.err;
  EXPECT_EQ(convert({"output/demo", "-o", "no/such.svg"}).exit_status(), 125);
  EXPECT_EQ(convert({"output", "-f", "csv"}).exit_status(), 125);
  EXPECT_EQ(convert({"output/demo", "-f", "xml"}).exit_status(), 2);
  write_file(directory / "output/demo/run.json",
             R"({"samples": {"total": 0, "with_stack": 0}, "modules": []})");
  const Outcome counted = convert({"output/demo", "-f", "speedscope"});
  EXPECT_EQ(counted.exit_status(), 125);
  EXPECT_NE(counted.err.find("formats that are left: callgrind, callgrind-lines, pprof, csv"),
            std::string::npos)
      << counted.err;
  write_file(directory / "output/demo/run.json",
             R"({"name": "demo", "samples": {"total": 5, "with_stack": 5}, "modules": []})");
  const Outcome older = convert({"output/demo", "-f", "firefox"});
  EXPECT_EQ(older.exit_status(), 125);
  EXPECT_NE(older.err.find("firefox needs a recording: there is no recording in output/demo"),
            std::string::npos)
      << older.err;
  EXPECT_NE(older.err.find("left: callgrind, callgrind-lines, speedscope, pprof, folded, svg, csv"),
            std::string::npos)
      << older.err;
}

TEST(Convert, makes_every_format_from_the_recording_alone) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "1500"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  std::filesystem::create_directory(directory / "alone");
  std::filesystem::copy(directory / "run/recording.sp", directory / "alone/copied.sp");
  for (const char* format : {"callgrind", "speedscope", "pprof", "folded", "svg", "csv",
                             "perf-script", "firefox", "chrome", "perfetto"}) {
    const Outcome from_files =
        run({SP_PROGRAM, "convert", directory / "run", "-f", format, "-o", directory / "a"});
    ASSERT_EQ(from_files.exit_status(), 0) << from_files.text();
    const Outcome from_recording = run({SP_PROGRAM, "convert", directory / "alone/copied.sp", "-f",
                                        format, "-o", directory / "b"});
    ASSERT_EQ(from_recording.exit_status(), 0) << from_recording.text();
    const std::string name = format;
    if (name == "folded" || name == "csv" || name == "chrome" || name == "perf-script" ||
        name == "perfetto") {
      EXPECT_EQ(read_file(directory / "a"), read_file(directory / "b")) << format;
    } else {
      EXPECT_GT(std::filesystem::file_size(directory / "b"), 100U) << format;
    }
  }
  const Outcome beside =
      run({SP_PROGRAM, "convert", directory / "alone/copied.sp", "-f", "folded"});
  EXPECT_EQ(beside.exit_status(), 0) << beside.text();
  EXPECT_EQ(read_file(directory / "alone/run.folded"), read_file(directory / "run/stacks.folded"));
  const Outcome report = run({SP_PROGRAM, "report", directory / "alone/copied.sp"});
  EXPECT_EQ(report.exit_status(), 0) << report.text();
  EXPECT_EQ(report.out, run({SP_PROGRAM, "report", directory / "run"}).out);
  const Outcome threads = run({SP_PROGRAM, "report", directory / "run", "--by-thread"});
  EXPECT_EQ(threads.exit_status(), 0) << threads.text();
  EXPECT_NE(threads.out.find("spin_shares ("), std::string::npos) << threads.out;
  EXPECT_NE(threads.out.find("100.0 %"), std::string::npos) << threads.out;
}

}  // namespace
}  // namespace sp::end_to_end
