// Exact mode against callgrind: each instruction of the named module was executed as often as ours
// and callgrind's counts say, in the same run of the same program with the same environment.
//
// callgrind shows programs another CPU than this one, so that libc picks other functions for it;
// therefore it is the program's own module, or the library that does its work, that is compared.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "arch/native.h"
#include "end_to_end/profiled.h"
#include "oracle/counts.h"

namespace sp::oracle {
namespace {

using end_to_end::has_program;
using end_to_end::Outcome;
using end_to_end::TempDir;
using end_to_end::Words;

struct Compared {
  std::string name;
  std::string module;
  Words command;  // by path: it runs without PATH
  Words environment = {};
  Words way = {"--single"};
};

void PrintTo(const Compared& compared, std::ostream* out) { *out << compared.name; }

std::string library(const std::string& name) { return "/usr/lib/x86_64-linux-gnu/" + name; }

const std::vector<Compared>& all_compared() {
  static const std::string query =
      "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where "
      "i < 100) insert into t select i, i * 7 % 101 from n; create index x on t(b); "
      "select count(*), sum(a % 7), count(distinct b) from t where b > 13; "
      "select b, group_concat(a) from t group by b order by 2 limit 3;";
  static const std::string perl =
      "my %h; for my $i (1..300) { $h{$i * $i % 97} .= chr(65 + $i % 26) } "
      "print join(',', map {$_ . $h{$_}} sort keys %h), \"\\n\"; "
      "print scalar(grep {/A.*B/} values %h), \"\\n\"";
  static const std::vector<Compared> compared = {
      {"gzip", "/usr/bin/gzip", {"/usr/bin/gzip", "-n", "-c", "text"}},
      {"bzip2", library("libbz2.so.1.0"), {"/usr/bin/bzip2", "-1", "-c", "text"}},
      {"xz", library("liblzma.so.5"), {"/usr/bin/xz", "-0", "-T1", "-c", "text"}},
      {"sqlite3", library("libsqlite3.so.0"), {"/usr/bin/sqlite3", ":memory:", query}},
      {"perl",
       "/usr/bin/perl",
       {"/usr/bin/perl", "-e", perl},
       {"PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0"}},
      {"stepped", "/usr/bin/seq", {"/usr/bin/seq", "1", "3", "40"}, {}, {"--single=step"}},
  };
  return compared;
}

class Callgrind : public testing::TestWithParam<Compared> {
 protected:
  void SetUp() override {
    const Compared& compared = GetParam();
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "exact mode is for x86_64";
    }
    if (!has_program("valgrind")) {
      GTEST_SKIP() << "valgrind is not installed";
    }
    for (const std::string& needed : {compared.module, compared.command.front()}) {
      if (::access(needed.c_str(), R_OK) != 0) {
        GTEST_SKIP() << needed << " is not installed";
      }
    }
    std::string text;
    for (unsigned i = 1; text.size() < 12'000; ++i) {
      text += "word" + std::to_string((i * i * 7919 + i * 31) % 5000) + (i % 9 == 0 ? "\n" : " ");
    }
    end_to_end::write_file(directory_ / "text", text);
  }

  /// `words` in the directory, with nothing but this environment.
  [[nodiscard]] Outcome run_in(const Words& environment, const Words& words) const {
    Words all = {"env", "-i"};
    all.insert(all.end(), environment.begin(), environment.end());
    all.insert(all.end(), words.begin(), words.end());
    end_to_end::StartOptions options;
    options.directory = directory_.path();
    return end_to_end::run(all, options);
  }

  [[nodiscard]] Outcome callgrind(const std::string& file, const Words& command) const {
    Words environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    environment.insert(environment.end(), GetParam().environment.begin(),
                       GetParam().environment.end());
    Words words = {"valgrind",
                   "-q",
                   "--tool=callgrind",
                   "--dump-instr=yes",
                   "--dump-line=no",
                   "--skip-plt=no",
                   "--compress-strings=no",
                   "--compress-pos=no",
                   "--callgrind-out-file=" + file};
    words.insert(words.end(), command.begin(), command.end());
    return run_in(environment, words);
  }

  /// What callgrind's programs see, in its order: some look at every variable.
  [[nodiscard]] Words environment_of_callgrind() const {
    std::istringstream listed(callgrind("/dev/null", {"/usr/bin/env"}).out);
    Words environment;
    for (std::string line; std::getline(listed, line);) {
      environment.push_back(line);
    }
    return environment;
  }

  TempDir directory_;
};

TEST_P(Callgrind, counts_the_same) {
  const Compared& compared = GetParam();
  const std::string file = directory_ / "callgrind.out";
  const Outcome by_callgrind = callgrind(file, compared.command);
  ASSERT_EQ(by_callgrind.exit_status(), 0) << by_callgrind.text();

  Words words = {SP_PROGRAM, "-q", "--no-aslr", "-o", directory_.path(), "--name", "run"};
  words.insert(words.end(), compared.way.begin(), compared.way.end());
  words.insert(words.end(), {"--", "/usr/bin/env", "-i"});
  for (const std::string& variable : environment_of_callgrind()) {
    words.push_back(variable);
  }
  words.insert(words.end(), compared.command.begin(), compared.command.end());
  const Outcome counted = run_in({"PATH=/usr/bin:/bin"}, words);
  ASSERT_EQ(counted.exit_status(), 0) << counted.text();
  EXPECT_TRUE(counted.out == by_callgrind.out) << "another output";

  auto blocks = blocks_of(directory_ / "run", compared.module);
  EXPECT_GT(blocks.size(), 50U);
  const auto counts = callgrind_counts(file, compared.module, blocks);
  const auto wrong = differences(compared.module, blocks, counts);
  printf("%s: %zu blocks, %zu differences\n", compared.name.c_str(), blocks.size(), wrong.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(wrong.size(), 20); ++i) {
    ADD_FAILURE() << wrong[i];
  }
  ++blocks.front().hits;
  EXPECT_GT(differences(compared.module, blocks, counts).size(), wrong.size());
}

INSTANTIATE_TEST_SUITE_P(Each, Callgrind, testing::ValuesIn(all_compared()),
                         [](const auto& compared) { return compared.param.name; });

}  // namespace
}  // namespace sp::oracle
