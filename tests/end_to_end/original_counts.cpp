// Wrong counts of the original superprofiler: the rows of original_bugs.cpp that need breakpoints.
// Compared with the known counts of known_counts and of a program of a few instructions.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

class OriginalCounts : public ::testing::Test {
 protected:
  struct Row {
    std::string function;
    std::string offset;  // within the function
    std::uint64_t size = 0;
    std::uint64_t hits = 0;
  };

  /// The blocks of a program's own file.
  std::vector<Row> blocks(const std::string& file) const {
    std::istringstream table(read_file(directory_ / "run/blocks.tsv"));
    std::vector<Row> rows;
    for (std::string line; std::getline(table, line);) {
      std::istringstream cells(line);
      std::vector<std::string> row;
      for (std::string cell; std::getline(cells, cell, '\t');) {
        row.push_back(cell);
      }
      if (row.size() >= 8 && row[0].ends_with("/" + file)) {
        rows.push_back({row[3], row[4], std::stoull(row[5]), std::stoull(row[7])});
      }
    }
    return rows;
  }

  /// Hits of a function's blocks, by offset.
  std::map<std::string, std::uint64_t> hits(const std::string& file,
                                            const std::string& function) const {
    std::map<std::string, std::uint64_t> found;
    for (const Row& row : blocks(file)) {
      if (row.function == function) {
        found[row.offset] = row.hits;
      }
    }
    return found;
  }

  /// Blocks whose size, end and hits are known: a ret of one byte, a branch that is never taken,
  /// one that is always taken, and a conditional branch of six bytes after a ten-byte instruction.
  bool build_blocks() {
    write_file(directory_ / "a.S", R"(
.globl main, one_byte, long_ones
.type one_byte, @function
one_byte: ret
.size one_byte, .-one_byte
.type long_ones, @function
long_ones:
  movabs $0x1122334455667788, %rax
  cmp %rdi, %rax
  .byte 0x0f, 0x84, 0x01, 0, 0, 0
  ret
  nop
  ret
.size long_ones, .-long_ones
.type main, @function
main:
  push %rbx
  mov $1000, %ebx
again:
  call one_byte
  mov %rbx, %rdi
  call long_ones
  dec %ebx
  jnz again
  xor %eax, %eax
  pop %rbx
  ret
.size main, .-main
.section .note.GNU-stack, "", @progbits
)");
    return run({"gcc", "-o", directory_ / "program", directory_ / "a.S"}).exit_status() == 0;
  }

  TempDir directory_;
};

// Rows 10, 11, 12, 14, 15, 22.
TEST_F(OriginalCounts, blocks_have_their_start_and_size_and_every_hit) {
  if (!has_program("gcc") || !build_blocks()) {
    GTEST_SKIP() << "gcc is not installed";
  }
  for (const char* way : {"--single", "--single=step"}) {
    const auto counted = profile(directory_, {"-q", way, "--overwrite"}, {directory_ / "program"});
    ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
    using Hits = std::map<std::string, std::uint64_t>;
    EXPECT_EQ(hits("program", "one_byte"), (Hits{{"0x0", 1000}})) << way;
    EXPECT_EQ(hits("program", "long_ones"), (Hits{{"0x0", 1000}, {"0x13", 1000}})) << way;
    EXPECT_EQ(hits("program", "main"),
              (Hits{{"0x0", 1}, {"0x6", 1000}, {"0xb", 1000}, {"0x13", 1000}, {"0x17", 1}}))
        << way;
    for (const Row& row : blocks("program")) {
      EXPECT_NE(row.function, "") << row.offset;
      EXPECT_EQ(row.function.find("unknown"), std::string::npos);
      if (row.function == "one_byte") {
        EXPECT_EQ(row.size, 1U);
      } else if (row.function == "long_ones") {
        EXPECT_EQ(row.size, row.offset == "0x0" ? 19U : 1U);
      }
    }
  }
}

// Row 9: signals between a breakpoint and the next instruction. Row 10: a handler is not a branch.
TEST_F(OriginalCounts, a_signal_makes_no_hit_count_twice) {
  const auto rounds = static_cast<unsigned>(scaled(400));
  const auto counted =
      profile(directory_, {"-q", "--single"},
              {target("signal_storm"), "2", std::to_string(rounds), std::to_string(spaced(700))});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(counted.files.calls_of("work_a_little"), 2 * rounds);
  EXPECT_EQ(counted.files.calls_of("on_own"), 2 * rounds);
  EXPECT_EQ(counted.files.run().at("counts").at("consistency").at("disagreeing"), 0);
}

// Row 16: hot code is not dropped, and no counter wraps. Row 23: calls are counted to the end.
TEST_F(OriginalCounts, hot_code_is_counted_to_the_end) {
  const auto calls = static_cast<unsigned>(scaled(20'000));
  for (const char* more : {"-q", "-a"}) {
    const auto counted = profile(directory_, {"--single", "--overwrite", more},
                                 {target("counted_threads"), "1", std::to_string(calls)});
    ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
    EXPECT_EQ(counted.files.calls_of("count_one"), calls);
    EXPECT_EQ(counted.files.calls_of("count_pair"), calls / 2);
  }
}

// Row 21: only starts of functions are called.
TEST_F(OriginalCounts, return_addresses_are_no_functions) {
  const auto counted = profile(directory_, {"-q", "--single"}, {target("known_counts"), "12"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  const std::map<std::string, std::uint64_t> right = {{"main", 1},  {"each_round", 12},
                                                      {"tail", 12}, {"in_a_triangle", 66},
                                                      {"fib", 177}, {"handler", 2}};
  for (const auto& [function, calls] : right) {
    EXPECT_EQ(counted.files.calls_of(function, "known_counts"), calls) << function;
  }
  for (const FunctionRow& row : counted.files.functions()) {
    EXPECT_EQ(row.function.find("unknown"), std::string::npos) << row.function;
    EXPECT_LT(row.calls, 1ULL << 40U) << row.function;
  }
}

// Row 18.
TEST_F(OriginalCounts, attaching_counts_at_once) {
  Running steady({target("steady"), "2"});
  ASSERT_TRUE(steady.says("ready\n"));
  const Outcome outcome = run(
      superprofiler(directory_, {"-q", "-s", "-d", "300ms", "-p", std::to_string(steady.pid())}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_GT(blocks("steady").size(), 0U);
  EXPECT_EQ(changed_text(steady.pid()), "");
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

// Row 25: named functions have probes before the first instruction, with or without a sample.
TEST_F(OriginalCounts, named_functions_are_counted_from_the_start) {
  const auto counted = profile(directory_, {"-q", "-a", "-F", "1", "--only-funcs", "main,fib"},
                               {target("known_counts"), "12"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(counted.files.calls_of("main"), 1U);
  EXPECT_EQ(counted.files.calls_of("fib"), 177U);
  EXPECT_EQ(counted.files.calls_of("each_round"), 0U);
}

// Row 26: and so have named files, including those that are loaded later.
TEST_F(OriginalCounts, named_files_are_counted_from_the_start) {
  const auto counted =
      profile(directory_, {"-q", "-a", "-F", "1", "--only-instrument-execs", "libm.so.6"},
              {target("code_ways"), "libraries", "10"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  // Two calls in each round. The library has its probes before anything of it runs.
  EXPECT_EQ(calls_of(counted.files, "cbrt"), "20 exact");
  EXPECT_EQ(calls_of(counted.files, "each_round"), "");
}

}  // namespace
}  // namespace sp::end_to_end
