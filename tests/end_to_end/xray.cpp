// The sleds of files: what llvm-xray says, what compilers of today make, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "arch/native.h"
#include "end_to_end/support.h"
#include "end_to_end/xray_support.h"

namespace sp::end_to_end {
namespace {

namespace fs = std::filesystem;

/// The newest that is installed; "": none.
std::string llvm_xray() {
  for (const char* const name : {"llvm-xray-14", "llvm-xray", "llvm-xray-16", "llvm-xray-19"}) {
    if (has_program(name)) {
      return name;
    }
  }
  return "";
}

/// From LLVM 15 on "> >" is ">>".
std::string with_closed_brackets(const std::string& text) {
  return std::regex_replace(text, std::regex("> (?=>)"), ">");
}

void expect_as_llvm_xray_prints(const std::string& file) {
  const Outcome theirs = run({llvm_xray(), "extract", "--symbolize", file});
  const Outcome ours = run(xray_of({"--yaml", file}));
  ASSERT_EQ(theirs.exit_status(), 0) << file << theirs.text();
  EXPECT_EQ(ours.exit_status(), 0) << file << ours.text();
  EXPECT_EQ(ours.err, "") << file;
  EXPECT_EQ(with_closed_brackets(ours.out), with_closed_brackets(theirs.out)) << file;
}

TEST(Xray, lists_the_sleds_of_a_file) {
  const Outcome outcome = run(xray_of({fixture("xray-clang14-x86_64-nopie")}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.err, "");
  std::istringstream lines(outcome.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "id  kind            address   always  state      function");
  const std::regex row(
      R"(\d   (function-enter|function-exit |tail-exit     |log-args-enter)  0x4[0-9a-f]{5}  )"
      R"((no |yes)     unpatched  (Counter::fib\(int\)|leaf|tail|always))");
  int rows = 0;
  for (; std::getline(lines, line); ++rows) {
    EXPECT_TRUE(std::regex_match(line, row)) << line;
  }
  EXPECT_EQ(rows, 8);
}

TEST(Xray, lists_functions_that_rules_choose) {
  const TempDir directory;
  const std::string file = fixture("xray-clang14-x86_64-nopie");
  write_file(directory / "list", "[never]\nfun:leaf\nfun:_ZN7Counter*\n");
  write_file(directory / "filters", "[[block]]\n[[allow]]\nfunction_linkage_name = \"^tail$\"\n");
  const auto listed = [&](const Words& options) {
    Words words = options;
    words.insert(words.end(), {"--yaml", file});
    const Outcome outcome = run(xray_of(words));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    const std::regex name("function-name: ([^,]+),");
    std::set<std::string> names;
    for (std::sregex_iterator found(outcome.out.begin(), outcome.out.end(), name), end;
         found != end; ++found) {
      names.insert((*found)[1]);
    }
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(listed({}).size(), 4U);
  EXPECT_EQ(listed({"--attr-list", directory / "list"}), (Names{"always", "tail"}));
  EXPECT_EQ(listed({"--filters", directory / "filters"}), Names{"tail"});
  write_file(directory / "wrong", "[[blok]]\n");
  const Outcome refused = run(xray_of({"--filters", directory / "wrong", file}));
  EXPECT_EQ(refused.exit_status(), 2);
  EXPECT_NE(refused.err.find("wrong:1:"), std::string::npos) << refused.err;
}

TEST(Xray, prints_what_llvm_xray_prints) {
  if (llvm_xray().empty()) {
    GTEST_SKIP() << "llvm-xray is not installed";
  }
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(kPlaces + "/files")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("xray-") && !name.ends_with("-events")) {  // it gives up at typed events
      expect_as_llvm_xray_prints(entry.path());
      ++compared;
    }
  }
  EXPECT_EQ(compared, 34);
}

TEST(Xray, prints_typed_events_that_llvm_xray_gives_up_at) {
  const Outcome outcome = run(xray_of({"--yaml", fixture("xray-clang19-aarch64-events")}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_NE(outcome.out.find("kind: custom-event, always-instrument: false, function-name: custom"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("kind: typed-event, always-instrument: false, function-name: typed"),
            std::string::npos)
      << outcome.out;
}

// What compilers of today make, also of names that need quotes.
TEST(Xray, reads_programs_that_are_compiled_now) {
  if (!has_program("clang++")) {
    GTEST_SKIP() << "clang++ is not installed";
  }
  const TempDir directory;
  write_file(directory / "names.cpp",
             "namespace { int hidden(const char* s) { return s[0]; } }\n"
             "template <typename T> struct Box { T value; T get() const { return value; } };\n"
             "template <typename T> T twice(Box<Box<T>> b) { return b.value.get() * 2; }\n"
             "int sum(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }\n"
             "int main(int argc, char** argv) {\n"
             "  const auto add = [](int a) { return a + 1; };\n"
             "  return hidden(argv[0]) + twice<int>({{argc}}) + sum(argc) + add(argc);\n"
             "}\n");
  for (const char* const link : {"-pie", "-no-pie", "-s"}) {
    const std::string program = directory / "names";
    const Outcome built =
        run({"clang++", "-O0", "-fxray-instrument", "-fxray-instruction-threshold=1",
             "-fnoxray-link-deps", std::string(link) == "-no-pie" ? "-fno-pie" : "-fPIE", link,
             directory / "names.cpp", "-o", program});
    if (built.exit_status() != 0) {
      GTEST_SKIP() << "clang++ cannot build a program with sleds here: " << built.err;
    }
    const Outcome outcome = run(xray_of({program}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out.find("unknown"), std::string::npos) << outcome.out;
    if (!llvm_xray().empty()) {
      expect_as_llvm_xray_prints(program);
    }
  }
}

// The committed files are what the script makes; where a compiler is missing it says so.
TEST(Xray, reads_fixtures_that_are_made_now) {
  const TempDir directory;
  const Outcome made =
      run({kPlaces + "/make.sh", directory.path(), "*-" + std::string(arch::Native::kName) + "-*"});
  EXPECT_EQ(made.exit_status(), 0) << made.text();
  int files = 0;
  for (const auto& entry : fs::directory_iterator(directory.path())) {
    const std::string name = entry.path().filename();
    const Outcome now = run(xray_of({entry.path()}));
    const Outcome committed = run(xray_of({fixture(name)}));
    EXPECT_EQ(now.exit_status(), committed.exit_status()) << name << now.text();
    EXPECT_EQ(std::count(now.out.begin(), now.out.end(), '\n'),
              std::count(committed.out.begin(), committed.out.end(), '\n'))
        << name;
    ++files;
  }
  if (files == 0) {
    GTEST_SKIP() << "no compiler of the fixtures is installed: " << made.out;
  }
}

TEST(Xray, says_which_other_places_a_file_has) {
  const std::string fix = "; compile it with clang -fxray-instrument\n";
  expect_refused({fixture("patchable-gcc12-x86_64-pie")}, 1,
                 "has no XRay map; it has 4 patchable function entries "
                 "(-fpatchable-function-entry)" +
                     fix);
  expect_refused({fixture("mcount-clang14-aarch64-shared")}, 1, "calls of mcount (-pg)" + fix);
  expect_refused({fixture("fentry_recorded-gcc12-x86_64-pie")}, 1,
                 "it has calls of __fentry__ (-mfentry), 3 places in __mcount_loc "
                 "(-mrecord-mcount)" +
                     fix);
  expect_refused({"--yaml", fixture("cyg-gcc12-x86_64-static")}, 1,
                 "calls of __cyg_profile_func_enter (-finstrument-functions)" + fix);
  expect_refused({target("steady")}, 1, "it has no other place for instrumentation" + fix);
}

TEST(Xray, says_in_one_line_why_it_cannot) {
  const TempDir directory;
  expect_refused({directory / "none"}, 125, "none: No such file or directory");
  write_file(directory / "text", "not a program\n");
  expect_refused({directory / "text"}, 125, "text is not an ELF file");
  expect_refused({directory.path()}, 125,
                 "is no regular file, or is empty; name a program or a library");
  const std::string whole = read_file(fixture("xray-clang14-x86_64-nopie"));
  write_file(directory / "cut", whole.substr(0, whole.size() - 100));
  expect_refused({directory / "cut"}, 125, "/cut is cut off: its section table is not there");
  std::string bare = whole;
  bare.replace(0x28, 8, 8, '\0');  // e_shoff
  write_file(directory / "bare", bare);
  expect_refused({directory / "bare"}, 1, "/bare has no section table");
  std::string object = whole;
  object[0x10] = 1;  // ET_REL
  write_file(directory / "object", object);
  expect_refused({directory / "object"}, 125, "/object is an object file; link it first");
  std::string damaged = read_file(fixture("xray-clang14-x86_64-nopie"));
  const std::string kind_one("\x01\x00\x02\x00\x00", 5);  // kind, always, version
  const auto at = damaged.find(kind_one);
  ASSERT_NE(at, std::string::npos);
  damaged[at] = 9;
  write_file(directory / "damaged", damaged);
  expect_refused({directory / "damaged"}, 125, "in xray_instr_map has the unknown kind 9");
  expect_refused({}, 2, "xray needs a file or a process");
}

}  // namespace
}  // namespace sp::end_to_end
