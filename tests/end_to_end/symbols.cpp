// The functions of a file without running it: names, ids that outlive strip, verdicts, and
// messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "end_to_end/support.h"
#include "end_to_end/table_rows.h"

namespace sp::end_to_end {
namespace {

std::vector<TableRow> symbols_of(const std::string& file, Words options = {}) {
  options.insert(options.begin(), {SP_PROGRAM, "symbols", file});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  return table_rows(outcome.out);
}

TableRow row_named(const std::vector<TableRow>& rows, const std::string& name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const TableRow& one) {
    return one.at("linkage_name") == name;
  });
  EXPECT_NE(row, rows.end()) << name;
  return row == rows.end() ? TableRow{} : *row;
}

/// Status and message of a command line that is refused in one line.
std::string refusal(const Words& words, int status) {
  Words command{SP_PROGRAM, "symbols"};
  command.insert(command.end(), words.begin(), words.end());
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_status(), status) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  return outcome.err;
}

TEST(Symbols, lists_the_functions_of_a_program) {
  const auto rows = symbols_of(target("recursion"));
  TableRow descend = row_named(rows, "descend");
  EXPECT_EQ(descend["module"], target("recursion"));
  EXPECT_EQ(descend["demangled_name"], "descend");
  EXPECT_TRUE(descend["file"].ends_with("/tests/targets/recursion.c")) << descend["file"];
  EXPECT_GT(std::stoul(descend["line"]), 1U);
  EXPECT_GT(std::stoul(descend["instructions"]), 3U);
  EXPECT_GT(std::stoul(descend["size"]), std::stoul(descend["instructions"]));
  EXPECT_EQ(descend["instrumented"], "yes");
  EXPECT_EQ(descend["place"], "breakpoint");
  EXPECT_EQ(descend["reason"], "default");
  EXPECT_EQ(descend["since"] + descend["until"] + descend["xray_id"], "");
  EXPECT_EQ(descend["id"].size(), 18U);
  EXPECT_EQ(std::stoull(descend["id"], nullptr, 16) & 0xFFFFFFFFU,
            std::stoull(descend["offset"], nullptr, 16));
  EXPECT_EQ(descend["id"].substr(0, 10), row_named(rows, "main")["id"].substr(0, 10));
}

TEST(Symbols, have_the_same_ids_after_strip) {
  if (!has_program("strip") || !has_program("objcopy")) {
    GTEST_SKIP() << "binutils are not installed";
  }
  const TempDir dir;
  ASSERT_EQ(run({"objcopy", "--remove-section=.note.gnu.build-id", target("recursion"),
                 dir / "without_id"})
                .exit_status(),
            0);
  for (const std::string& file : {target("recursion"), dir / "without_id"}) {
    ASSERT_EQ(run({"strip", "-o", dir / "stripped", file}).exit_status(), 0);
    const auto rows = symbols_of(file);
    const auto stripped = symbols_of(dir / "stripped");
    TableRow descend = row_named(rows, "descend");
    EXPECT_EQ(descend["build_id"].empty(), file != target("recursion"));
    const auto same = std::find_if(stripped.begin(), stripped.end(), [&](const TableRow& row) {
      return row.at("id") == descend["id"];
    });
    ASSERT_NE(same, stripped.end()) << file;
    EXPECT_EQ(same->at("size"), descend["size"]);
    EXPECT_EQ(same->at("linkage_name"), "");
    EXPECT_TRUE(same->at("demangled_name").starts_with("stripped+0x"));
  }
}

TEST(Symbols, find_the_names_of_a_stripped_file_in_its_debug_file) {
  if (!has_program("strip") || !has_program("objcopy")) {
    GTEST_SKIP() << "binutils are not installed";
  }
  const TempDir dir;
  ASSERT_EQ(
      run({"objcopy", "--only-keep-debug", target("recursion"), dir / "r.debug"}).exit_status(), 0);
  ASSERT_EQ(run({"strip", "-o", dir / "r", target("recursion")}).exit_status(), 0);
  ASSERT_EQ(run({"objcopy", "--add-gnu-debuglink=" + dir / "r.debug", dir / "r"}).exit_status(), 0);
  TableRow descend = row_named(symbols_of(dir / "r"), "descend");
  EXPECT_TRUE(descend["file"].ends_with("/recursion.c")) << descend["file"];

  const Outcome fits = run({SP_PROGRAM, "symbols", dir / "r", "--check", dir / "r.debug"});
  EXPECT_EQ(fits.exit_status(), 0) << fits.text();
  EXPECT_NE(fits.err.find("r.debug is a debug file of "), std::string::npos) << fits.err;
  EXPECT_NE(refusal({target("steady"), "--check", dir / "r.debug"}, 1).find("the build-id is "),
            std::string::npos);
  EXPECT_NE(refusal({dir / "r.debug"}, 125).find("is a debug file without code"),
            std::string::npos);
}

TEST(Symbols, tell_why_a_function_would_not_be_traced) {
  const TempDir dir;
  write_file(dir / "f.toml",
             "[[block]]\nrule_name = 'sources'\nsource_file_path = '.*/recursion\\.c'\n"
             "[[allow]]\nfunction_linkage_name = 'main'\n");
  write_file(dir / "x.list", "[never]\nfun:_start\n");
  const auto rows =
      symbols_of(target("recursion"), {"--filters", dir / "f.toml", "--attr-list", dir / "x.list"});
  EXPECT_EQ(row_named(rows, "descend")["reason"], "block:sources");
  EXPECT_EQ(row_named(rows, "descend")["instrumented"], "no");
  EXPECT_EQ(row_named(rows, "descend")["place"], "");
  EXPECT_EQ(row_named(rows, "main")["reason"], "allow:allow#1");
  EXPECT_EQ(row_named(rows, "_start")["reason"], "block:attr-list:2");
  const auto selected = symbols_of(target("recursion"), {"--only-funcs", "desc*"});
  EXPECT_EQ(row_named(selected, "descend")["reason"], "default");
  EXPECT_EQ(row_named(selected, "main")["reason"], "option:--only-funcs");
}

TEST(Symbols, write_a_file_with_the_separator_that_is_asked_for) {
  const TempDir dir;
  const Outcome outcome =
      run({SP_PROGRAM, "symbols", target("recursion"), "--csv", ";", "-o", dir / "s.csv"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(" functions, of which --trace would trace "), std::string::npos);
  const std::string text = read_file(dir / "s.csv");
  EXPECT_TRUE(text.starts_with("id;module;build_id;")) << text.substr(0, 80);
  EXPECT_NE(text.find(";descend;descend;"), std::string::npos);
}

TEST(Symbols, say_in_one_line_what_is_wrong) {
  const TempDir dir;
  write_file(dir / "f.toml", "[[block]]\n  modul = 'x'\n");
  EXPECT_EQ(refusal({target("recursion"), "--filters", dir / "f.toml"}, 2),
            "superprofiler: " + dir / "f.toml" +
                ":2:3: a rule has no key 'modul'; did you mean module?\n");
  EXPECT_EQ(refusal({target("recursion"), "--filters", dir / "no.toml"}, 125),
            "superprofiler: opening " + dir / "no.toml" + ": No such file or directory\n");
  EXPECT_EQ(refusal({target("recursio")}, 125), "superprofiler: opening " + target("recursio") +
                                                    ": No such file or directory; did you mean " +
                                                    target("recursion") + "?\n");
  EXPECT_EQ(refusal({dir / "f.toml"}, 125), "superprofiler: " + dir / "f.toml" +
                                                ": not an ELF file; give a program or a library\n");
  EXPECT_NE(refusal({target("recursion"), "-o", dir / "no/s.tsv"}, 125).find("opening "),
            std::string::npos);
}

}  // namespace
}  // namespace sp::end_to_end
