#include "commands/run_files/finished_run.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "commands/run_files/stack_file.h"

namespace sp::run_files {
namespace {

namespace fs = std::filesystem;

class RunFiles : public testing::Test {
 protected:
  RunFiles() {
    std::string path = fs::temp_directory_path() / "sp-run-files-XXXXXX";
    directory_ = ::mkdtemp(path.data());
  }
  ~RunFiles() override { fs::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return directory_ + "/" + name;
  }

  std::string directory_;
};

const std::string kFunctions =
    "module\tfunction\tsource\tself_samples\ttotal_samples\tcalls\tcalls_kind\n";
const std::string kBlocks =
    "module\toffset\taddress\tfunction\tfunction_offset\tsize\tinstructions\thits\tkind\tfirst_us\t"
    "last_us\tsource\n";
const std::string kEdges = "module\tfrom_offset\tto_module\tto_offset\thits\tkind\tflow\n";

using Frames = std::vector<std::string>;
using Lines = std::vector<std::pair<Frames, std::uint64_t>>;

Lines lines_of(StackFile& file) {
  Lines lines;
  file.for_each([&](std::span<const std::uint32_t> stack, std::uint64_t samples) {
    Frames frames;
    for (const std::uint32_t function : stack) {
      frames.push_back(file.functions()[function].name);
    }
    lines.emplace_back(frames, samples);
  });
  return lines;
}

TEST_F(RunFiles, stacks_are_read_as_often_as_wanted) {
  write("stacks.folded", "main;f(int, int) 3\nmain;f(int, int);g 18446744073709551615\n[x] 1\n");
  const auto file = StackFile::open(*this / "stacks.folded", {}).value();
  const Lines expected = {{{"main", "f(int, int)"}, 3},
                          {{"main", "f(int, int)", "g"}, 18446744073709551615U},
                          {{"[x]"}, 1}};
  EXPECT_EQ(lines_of(*file), expected);
  EXPECT_EQ(lines_of(*file), expected);
  EXPECT_EQ(file->damage(), "");
}

TEST_F(RunFiles, a_frame_is_the_function_of_its_name_if_there_is_one) {
  write("stacks.folded", "main;a:b;twice 3\n");
  std::vector<profiler::RecordedFunction> rows(4);
  const std::vector<std::pair<std::string, std::string>> names = {
      {"a;b", "/bin/p"}, {"main", "/bin/p"}, {"twice", "/bin/p"}, {"twice", "/lib/l.so"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].name = names[i].first;
    rows[i].module = names[i].second;
  }
  const auto file = StackFile::open(*this / "stacks.folded", rows).value();
  EXPECT_EQ(file->rows().size(), 4U);
  EXPECT_EQ(lines_of(*file), (Lines{{{"main", "a;b", "twice"}, 3}}));
  file->for_each([&](std::span<const std::uint32_t> stack, std::uint64_t) {
    EXPECT_EQ(file->functions()[stack[1]].module, "/bin/p");
    EXPECT_EQ(file->functions()[stack[2]].module, "") << "which of the two is not known";
  });
}

TEST_F(RunFiles, a_frame_may_be_longer_than_a_buffer) {
  const std::string name(200'000, 'x');
  write("stacks.folded", "a;" + name + " 1\na;" + name + ";b 2\n");
  const auto file = StackFile::open(*this / "stacks.folded", {}).value();
  EXPECT_EQ(lines_of(*file), (Lines{{{"a", name}, 1}, {{"a", name, "b"}, 2}}));
}

TEST_F(RunFiles, damaged_stacks_are_read_up_to_the_damage) {
  for (const std::string rest : {"b;c", "b;c 1", "b;c x\nd 1\n", "b\n", "b;c 1x\nd 1\n", ";"}) {
    write("stacks.folded", "a 7\n" + rest);
    const auto file = StackFile::open(*this / "stacks.folded", {}).value();
    EXPECT_EQ(file->damage(), (*this / "stacks.folded") + " is damaged in line 2") << rest;
    EXPECT_EQ(lines_of(*file), (Lines{{{"a"}, 7}})) << rest;
  }
}

TEST_F(RunFiles, functions_have_their_own_bytes) {
  write("functions.tsv", kFunctions +
                             "/bin/p\ta\\tb\\n\\\\\t/src/"
                             "a:b.c:7\t2\t3\t4\texact\n[kernel]\tr\t\t1\t1\t\tnot-counted\n");
  std::vector<std::string> notes;
  const auto rows = read_functions(directory_, notes).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "a\tb\n\\");
  EXPECT_EQ(rows[0].file, "/src/a:b.c");
  EXPECT_EQ(rows[0].line, 7U);
  EXPECT_EQ(rows[0].calls, 4U);
  EXPECT_EQ(rows[1].calls, std::nullopt);
  EXPECT_TRUE(notes.empty());
}

TEST_F(RunFiles, a_cut_or_damaged_row_ends_a_table_and_is_said) {
  const std::string good = "/bin/p\tf\t\t2\t3\t4\texact\n";
  for (const std::string bad :
       {"/bin/p\tg\t\t2", "/bin/p\tg\t\t2\t3\t4\texact", "x\n", "/bin/p\tg\t\t-2\t3\t4\texact\n",
        "/bin/p\tg\t\t2\t3\t4\texact\textra\n"}) {
    write("functions.tsv", kFunctions + good + bad);
    std::vector<std::string> notes;
    EXPECT_EQ(read_functions(directory_, notes).value().size(), 1U) << bad;
    EXPECT_EQ(notes, std::vector<std::string>{(*this / "functions.tsv") + " is damaged in line 3"})
        << bad;
  }
}

TEST_F(RunFiles, a_table_without_its_columns_is_refused) {
  write("functions.tsv", "module\tfunction\n");
  std::vector<std::string> notes;
  const auto rows = read_functions(directory_, notes);
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message().find("lacks columns"), std::string::npos);
}

TEST_F(RunFiles, blocks_are_sorted_by_function_and_samples_are_no_hits) {
  write("blocks.tsv",
        kBlocks +
            "/bin/p\t0x1210\t0x0\tb\t0x10\t4\t2\t50\texact-until:1.000\t1\t2\t/b.h:3\n"
            "/bin/p\t0x1210\t0x0\tb\t0x10\t4\t2\t9\tsampled\t\t\t/b.h:3\n"
            "/bin/p\t0x1100\t0x0\ta\t0x0\t8\t3\t7\texact\t1\t2\t\n"
            "/bin/p\t0x1200\t0x0\tb\t0x0\t8\t3\t7\texact\t1\t2\t/b.c:1\n");
  write("edges.tsv", kEdges +
                         "/bin/p\t\t/bin/p\t0x1100\t1\texact\tentry\n"
                         "/bin/p\t0x1104\t/bin/p\t0x1200\t7\texact\tcall\n");
  std::vector<std::string> notes;
  const auto code = read_code(directory_, notes).value();
  ASSERT_EQ(code.functions.size(), 2U);
  EXPECT_EQ(code.functions[1].name, "b");
  EXPECT_EQ(code.functions[1].start, 0x1200U);
  ASSERT_EQ(code.blocks.size(), 3U);
  EXPECT_EQ(code.blocks[2].offset, 0x1210U);
  EXPECT_EQ(code.blocks[2].executed(), 100U);
  EXPECT_EQ(code.files[code.blocks[2].file], "/b.h");
  EXPECT_EQ(code.files[code.blocks[0].file], "");
  EXPECT_EQ(code.blocks_to_the_end, 2U);
  ASSERT_EQ(code.edges.size(), 2U);
  EXPECT_EQ(code.edges[1].flow, core::EdgeFlow::call);
  EXPECT_TRUE(notes.empty());
}

TEST_F(RunFiles, run_json_tells_what_was_run) {
  write("run.json", R"({"superprofiler_version": "0.1.0", "name": "demo", "command": ["p", "a b"],
    "started_at": "2026-11-25T02:28:16.128Z", "elapsed_seconds": 2.072,
    "samples": {"clock": "wall", "total": 12, "with_stack": 9}, "counts": null,
    "cost": {"target_cpu_us": 1500.25},
    "modules": [{"path": "/bin/p", "kind": "file", "build_id": "ab", "base": "0x5500"}]})");
  const auto run = read_run(directory_).value();
  EXPECT_EQ(run.name, "demo");
  EXPECT_EQ(run.command, "p 'a b'");
  EXPECT_EQ(run.started_ns, 1795573696128000000);
  EXPECT_TRUE(run.wall);
  EXPECT_EQ(run.samples, 12U);
  EXPECT_EQ(run.with_stack, 9U);
  EXPECT_EQ(run.cpu_ns, 1500250U);
  EXPECT_EQ(run.counts_kind, "");
  ASSERT_EQ(run.modules.size(), 1U);
  EXPECT_EQ(run.modules[0].base, 0x5500U);
}

TEST_F(RunFiles, a_directory_without_a_run_is_refused_with_the_fix) {
  EXPECT_NE(
      read_run(directory_).error().message().find("give the directory that a run has written"),
      std::string::npos);
  for (const std::string text : {"", "{", "[]", "{\"modules\": []}", "{\"samples\": {}}"}) {
    write("run.json", text);
    EXPECT_NE(read_run(directory_).error().message().find("is damaged"), std::string::npos) << text;
  }
}

TEST_F(RunFiles, the_newest_run_is_the_one_written_last) {
  EXPECT_FALSE(newest_run(directory_));
  for (const std::string name : {"b", "a", "c"}) {
    fs::create_directory(directory_ + "/" + name);
    write(name + "/run.json", "{}");
  }
  fs::create_directory(directory_ + "/not-a-run");
  const auto then = fs::last_write_time(*this / "b/run.json");
  fs::last_write_time(*this / "a/run.json", then + std::chrono::seconds(9));
  fs::last_write_time(*this / "c/run.json", then + std::chrono::seconds(5));
  EXPECT_EQ(newest_run(directory_).value(), *this / "a");
}

}  // namespace
}  // namespace sp::run_files
