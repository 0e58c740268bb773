#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "profiler/formats/folded.h"
#include "profiler/formats/functions_tsv.h"
#include "profiler/formats/json_writer.h"
#include "profiler/formats/run_json.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler {
namespace {

using test::expect_golden;
using test::kJitted;
using test::kLibc;
using test::kProgram;
using test::sample;

/// A small run with one of everything.
class FormatsTest : public testing::Test {
 protected:
  FormatsTest() : profile_(false) {
    test::add_modules(profile_);
    profile_.add(core::ProcessSeen{{4711, 1}, {}, "demo --fast"});
    profile_.add(core::ProcessSeen{{4712, 1}, {4711, 1}, "sh -c \"echo\""});
    profile_.add(core::SamplesLost{2});
    name();
    for (int i = 0; i < 3; ++i) {
      profile_.add(sample({0x20, 0x10}));
    }
    profile_.add(sample({0x30, 0x10}));
    profile_.add(sample({0x20}, core::StackEnd::copy_ended));
    profile_.add(test::blocked_sample({0x10}, "read"));
    profile_.add(test::pc_sample(0x20));
    core::SampleTaken in_libc = sample({0x50, 0x10});
    in_libc.stack.frames[0].where = {kLibc, 0x50};
    profile_.add(in_libc);
    core::SampleTaken in_jit = sample({0x7f00, 0x10});
    in_jit.stack.frames[0].where = {kJitted, 0x7f00};
    profile_.add(in_jit);
  }

  void name() {
    namer_.set({kProgram, 0x10}, {test::named("main", "/src/demo.c", 40)});
    namer_.set({kProgram, 0x20},
               {test::named("std::vector<int>::push_back(int&&)", "/src/vector.h", 7, true),
                test::named("work(Item const&; int)", "/src/demo.c", 12)});
    namer_.set({kProgram, 0x30}, "tab\there\\\nnewline");
    namer_.set({kLibc, 0x50}, "memcpy");
    namer_.set({kJitted, 0x7f00}, "LazyCompile:*fib /srv/app.js:3");
  }

  Profile profile_;
  test::TableNamer namer_;
};

TEST_F(FormatsTest, folded_is_as_documented) {
  std::ostringstream out;
  write_folded(out, name_profile(profile_, namer_));
  expect_golden("stacks.folded", out.str());
}

TEST_F(FormatsTest, functions_tsv_is_as_documented) {
  std::ostringstream out;
  write_functions_tsv(out, ranked(name_profile(profile_, namer_).functions), {});
  expect_golden("functions.tsv", out.str());
}

TEST_F(FormatsTest, run_json_is_as_documented) {
  std::ostringstream out;
  const RunReport report{.facts = test::facts(),
                         .version = "0.1.0",
                         .wall = true,
                         .counts = profile_.counts(),
                         .modules = profile_.modules(),
                         .processes = profile_.processes()};
  write_run_json(out, report);
  expect_golden("run.json", out.str());
}

TEST(Formats, an_empty_run_still_has_headers) {
  const Profile profile(false);
  test::TableNamer namer;
  const NamedProfile named = name_profile(profile, namer);
  std::ostringstream folded;
  write_folded(folded, named);
  EXPECT_EQ(folded.str(), "");
  std::ostringstream functions;
  write_functions_tsv(functions, ranked(named.functions), {});
  EXPECT_EQ(functions.str(),
            "module\tfunction\tsource\tself_samples\ttotal_samples\tcalls\tcalls_kind\n");
}

TEST(JsonWriter, writes_nested_values_two_blanks_a_level) {
  std::ostringstream out;
  JsonWriter json(out);
  json.begin_object();
  json.key("none").null();
  json.key("list").begin_array();
  json.number(-1);
  json.number(std::uint64_t{18446744073709551615U});
  json.real(0.5);
  json.real(std::numeric_limits<double>::infinity());
  json.boolean(true);
  json.end_array();
  json.key("empty").begin_object();
  json.end_object();
  json.end_object();
  EXPECT_EQ(out.str(),
            "{\n  \"none\": null,\n  \"list\": [\n    -1,\n    18446744073709551615,\n    0.500,\n"
            "    null,\n    true\n  ],\n  \"empty\": {}\n}\n");
}

}  // namespace
}  // namespace sp::profiler
