// What copies count beside the blocks of the program: the ways from block to block, and, with
// --single=copies, every block of every module, from the loader's first instruction to _exit().
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "arch/native.h"
#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

class CopiesCount : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!arch::Native::kHasCopies) {
      GTEST_SKIP() << "no copies on this CPU";
    }
  }

  [[nodiscard]] static std::uint64_t copied(const RunFiles& files) {
    return files.run().at("probes").at("copies").at("functions").get<std::uint64_t>();
  }

  TempDir first_;
  TempDir second_;
};

constexpr const char* kLoader =
    arch::Native::kName == "x86_64" ? "ld-linux-x86-64.so.2" : "ld-linux-aarch64.so.1";

using Edge = std::tuple<std::string, std::string, std::string>;  // from, to, flow

/// Of the program, those whose flow is one of `flows`: hits and kind.
std::map<Edge, std::string> edges_of(const RunFiles& files, const std::string& program,
                                     const std::set<std::string>& flows) {
  std::map<Edge, std::string> edges;
  std::istringstream table(read_file(files.directory() + "/edges.tsv"));
  for (std::string line; std::getline(table, line);) {
    std::istringstream columns(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(columns, cell, '\t');) {
      cells.push_back(cell);
    }
    if (cells.size() >= 7 && cells[0].ends_with("/" + program) && flows.contains(cells[6])) {
      edges[{cells[1], cells[3], cells[6]}] = cells[4] + " " + cells[5];
    }
  }
  return edges;
}

/// Transfers are counted in tables of the threads' own, which need a segment.
std::set<std::string> counted_ways() {
  return arch::Native::kHasCounterSegment
             ? std::set<std::string>{"jump", "taken", "call", "return", "indirect"}
             : std::set<std::string>{"jump", "taken"};
}

TEST_F(CopiesCount, each_way_as_often_as_probes_do) {
  const std::set<std::string> kWays = counted_ways();
  for (const Words& arguments :
       {Words{"known_counts", "100"}, Words{"loops_at_entry"}, Words{"indirect_ways", "200"}}) {
    Words program = arguments;
    program.front() = target(program.front());
    const TempDir with;
    const TempDir without;
    const Profiled copies = profile(with, {"-q", "-a"}, program);
    const Profiled probes = profile(without, {"-q", "-a", "--no-copies"}, program);
    EXPECT_EQ(copies.outcome.wait_status, probes.outcome.wait_status) << copies.outcome.text();
    EXPECT_GT(copied(copies.files), 0U) << arguments.front();
    const auto expected = edges_of(probes.files, arguments.front(), kWays);
    EXPECT_GT(expected.size(), 4U) << arguments.front();
    EXPECT_EQ(edges_of(copies.files, arguments.front(), kWays), expected) << arguments.front();
    const auto consistency = copies.files.run().at("counts").at("consistency");
    EXPECT_EQ(consistency.at("disagreeing"), 0) << arguments.front();
  }
}

/// Of the block that holds an offset; 0: none was executed.
std::uint64_t hits_at(const std::vector<BlockRow>& rows, std::uint64_t offset) {
  for (const BlockRow& row : rows) {
    if (row.offset <= offset && offset < row.offset + row.size && row.hits > 0) {
      return row.hits;
    }
  }
  return 0;
}

/// Each block of `rows` has the hits that `others` has there.
void expect_hits_of(const std::vector<BlockRow>& rows, const std::vector<BlockRow>& others) {
  for (const BlockRow& row : rows) {
    // Handlers return by a system call that never comes back to where its block would be counted.
    if (row.hits > 0 && row.function != "__restore_rt") {
      EXPECT_EQ(hits_at(others, row.offset), row.hits) << row.module << " " << row.function;
    }
  }
}

TEST_F(CopiesCount, every_block_of_every_module_that_exact_mode_counts) {
  const Words program{target("known_counts"), "20"};
  const Profiled copies = profile(first_, {"-q", "--no-aslr", "--single=copies"}, program);
  const Profiled exact = profile(second_, {"-q", "--no-aslr", "--single"}, program);
  EXPECT_EQ(copies.outcome.out, exact.outcome.out) << copies.outcome.text();
  EXPECT_GT(copied(copies.files), 0U);
  for (const char* module : {"known_counts", "libc.so.6", kLoader}) {
    const std::vector<BlockRow> rows = blocks_of(copies.files, module);
    const std::vector<BlockRow> expected = blocks_of(exact.files, module);
    EXPECT_GT(expected.size(), 10U) << module;
    expect_hits_of(expected, rows);
    expect_hits_of(rows, expected);
    for (const BlockRow& row : rows) {
      EXPECT_EQ(row.kind, "exact") << module << " " << row.function;
    }
  }
}

TEST_F(CopiesCount, every_way_of_every_module_that_exact_mode_counts) {
  const std::set<std::string> kWays = counted_ways();
  const Words program{target("indirect_ways"), "40"};
  const Profiled copies = profile(first_, {"-q", "--no-aslr", "--single=copies"}, program);
  const Profiled exact = profile(second_, {"-q", "--no-aslr", "--single"}, program);
  EXPECT_EQ(copies.outcome.out, exact.outcome.out) << copies.outcome.text();
  for (const char* module : {"indirect_ways", "libc.so.6", kLoader}) {
    const auto expected = edges_of(exact.files, module, kWays);
    EXPECT_GT(expected.size(), 10U) << module;
    EXPECT_EQ(edges_of(copies.files, module, kWays), expected) << module;
  }
}

// They come in front of calls that are counted already, between the two jumps of a landing, and
// where the next execution of a block would count once more.
TEST_F(CopiesCount, each_transfer_once_though_signals_come_anywhere) {
  constexpr std::uint64_t kTurns = 20'000'000;
  const Words program{target("indirect_ways"), std::to_string(kTurns),
                      std::to_string(lengthened(1000))};
  const std::string expected = run(program).out;
  for (const char* mode : {"-a", "--single=copies", "-q"}) {
    const TempDir directory;
    const Profiled run = profile(directory, {"-q", mode}, program);
    EXPECT_EQ(run.outcome.out, expected) << mode << run.outcome.text();
    EXPECT_EQ(run.outcome.exit_status(), 0) << mode;
    const auto consistency = run.files.run().at("counts").at("consistency");
    EXPECT_EQ(consistency.at("disagreeing"), 0) << mode << consistency.dump();
    if (std::string(mode) != "-q" && arch::Native::kHasCounterSegment) {
      // Of main's calls each function gets a quarter.
      std::uint64_t calls = 0;
      for (const auto& [edge, hits] : edges_of(run.files, "indirect_ways", {"call"})) {
        calls += hits == std::to_string(kTurns / 4) + " exact" ? 1 : 0;
      }
      EXPECT_EQ(calls, 4U) << mode;
    }
  }
}

// Their children by vfork run in the same copies.
TEST_F(CopiesCount, no_children_that_are_not_followed) {
  const Profiled alone =
      profile(first_, {"-q", "-a", "--follow", "none"}, {target("vfork_counts")});
  EXPECT_EQ(alone.outcome.out, "done\n") << alone.outcome.text();
  EXPECT_GT(copied(alone.files), 0U);
  EXPECT_EQ(calls_of(alone.files, "ten_times"), "200 exact");
  const Profiled followed = profile(second_, {"-q", "-a"}, {target("vfork_counts")});
  EXPECT_EQ(calls_of(followed.files, "ten_times"), "270 exact");
}

// In a program with one thread a function gets its copy when it is first entered, and probes only
// until all of the module's code is read.
TEST_F(CopiesCount, a_function_from_its_first_execution_on) {
  const Profiled copies =
      profile(first_, {"-q", "-a"},
              {"/bin/sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; printf %d $i"});
  EXPECT_EQ(copies.outcome.out, "300") << copies.outcome.text();
  const auto probes = copies.files.run().at("probes");
  EXPECT_GT(copied(copies.files), probes.at("functions").get<std::uint64_t>() / 2) << probes.dump();
}

}  // namespace
}  // namespace sp::end_to_end
