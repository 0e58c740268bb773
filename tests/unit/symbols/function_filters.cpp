#include "symbols/function_filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "scratch_folder.h"

namespace sp::symbols {
namespace {

/// Rules from texts.
class Rules {
 public:
  core::Result<FunctionFilters> read(const std::string& toml, const std::string& list = "") {
    std::vector<std::string> lists;
    if (!list.empty()) {
      lists.push_back(folder_.write("x.list", list));
    }
    return FunctionFilters::read({folder_.write("f.toml", toml)}, lists, notes_);
  }

  /// Behind the folder.
  std::string error(const std::string& toml, const std::string& list = "") {
    const auto filters = read(toml, list);
    EXPECT_FALSE(filters.has_value()) << toml << list;
    const std::string text = filters ? "" : filters.error().message();
    EXPECT_TRUE(text.starts_with(folder_.path() + "/")) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text.substr(std::min(text.size(), folder_.path().size() + 1));
  }

  std::string note(std::size_t index) const {
    return index < notes_.size() ? notes_[index].substr(folder_.path().size() + 1) : "";
  }

 private:
  test::ScratchFolder folder_;
  std::vector<std::string> notes_;
};

FunctionFacts facts() {
  FunctionFacts known;
  known.module = "/usr/bin/prog";
  known.linkage_name = "_ZN2ns3fooEi";
  known.demangled_name = "ns::foo(int)";
  known.source_file = "/src/lib/foo.cc";
  known.instructions = 10;
  known.size = 40;
  return known;
}

struct Case {
  std::string rules;
  bool is_traced = true;
  std::string reason;
};

void expect_verdict(const Case& expected, const FunctionFacts& known) {
  const auto filters = Rules().read(expected.rules);
  ASSERT_TRUE(filters.has_value()) << expected.rules << filters.error().message();
  const auto verdict = filters->judge(known);
  EXPECT_EQ(verdict.is_traced, expected.is_traced) << expected.rules;
  EXPECT_EQ(verdict.reason, expected.reason) << expected.rules;
}

TEST(FunctionFilters, have_the_outcomes_of_the_table) {
  const std::string block = "[[block]]\nrule_name = 'b'\n";
  const std::string allow = "[[allow]]\nrule_name = 'a'\n";
  const std::string other = "module = 'other'\n";
  for (const Case& one : std::vector<Case>{
           {"", true, "default"},
           {block + other, true, "default"},
           {block, false, "block:b"},
           {allow, true, "allow:a"},
           {block + allow, true, "allow:a"},
           {allow + block, true, "allow:a"},
           {block + allow + other, false, "block:b"},
           {allow + other, true, "default"},
           {block + other + "[[block]]\n", false, "block:block#2"},
           {"[[block]]\n" + block, false, "block:block#1"},
           {block + allow + other + "[[allow]]\n", true, "allow:allow#2"},
       }) {
    expect_verdict(one, facts());
  }
}

TEST(FunctionFilters, want_all_conditions_of_a_rule) {
  const std::string block = "[[block]]\n";
  for (const auto& [condition, holds] : std::vector<std::pair<std::string, bool>>{
           {"function_demangled_name = 'ns::foo\\(int\\)'", true},
           {"function_demangled_name = 'ns::foo'", false},
           {"function_demangled_name = 'ns::.*'", true},
           {"function_linkage_name = '_ZN2ns3fooEi'", true},
           {"function_linkage_name = '_ZN2ns'", false},
           {"source_file_path = '/src/(lib|app)/.*\\.cc'", true},
           {"source_file_path = '.*\\.h'", false},
           {"module = '.*/prog'", true},
           {"module = 'prog'", false},
           {"function_instruction_count_lt = 10", false},
           {"function_instruction_count_lt = 11", true},
           {"function_instruction_count_gt = 10", false},
           {"function_instruction_count_gt = 9", true},
           {"function_size_lt = 40", false},
           {"function_size_lt = 41", true},
           {"function_size_gt = 40", false},
           {"function_size_gt = 39", true},
           {"function_size_gt = 10\nfunction_size_lt = 20", false},
           {"module = '.*'\nfunction_size_lt = 20", false},
           {"xray_always = true", false},
           {"xray_always = false", false},
       }) {
    expect_verdict({block + condition, !holds, holds ? "block:block#1" : "default"}, facts());
  }
}

TEST(FunctionFilters, match_nothing_with_what_is_not_known) {
  for (const std::string condition :
       {"function_demangled_name = '.*'", "function_linkage_name = '.*'", "source_file_path = '.*'",
        "source_file_path = ''", "module = '.*'", "function_instruction_count_lt = 1000",
        "function_size_gt = 0", "xray_always = false"}) {
    expect_verdict({"[[block]]\n" + condition, true, "default"}, {});
  }
  FunctionFacts always = facts();
  always.xray_always = true;
  expect_verdict({"[[block]]\nxray_always = true", false, "block:block#1"}, always);
  expect_verdict({"[[block]]\nxray_always = false", true, "default"}, always);
}

TEST(FunctionFilters, say_file_line_and_column_of_each_mistake) {
  for (const auto& [toml, expected] : std::vector<std::pair<std::string, std::string>>{
           {"[[blok]]\n",
            "f.toml:1:3: there is no 'blok' in a filters file; did you mean "
            "block?"},
           {"title = 'x'\n",
            "f.toml:1:1: there is no 'title' in a filters file; known are block, allow"},
           {"[block]\nmodule = 'a'\n", "f.toml:1:2: block is a list of rules; write [[block]]"},
           {"allow = [1]\n", "f.toml:1:10: allow is a list of rules; write [[allow]]"},
           {"[[block]]\nmodul = 'a'\n",
            "f.toml:2:1: a rule has no key 'modul'; did you mean module?"},
           {"[[block]]\n\n  function_sise_lt = 1\n",
            "f.toml:3:3: a rule has no key 'function_sise_lt'; did you mean function_size_lt?"},
           {"[[block]]\nmodule = 3\n",
            "f.toml:2:10: module takes a regular expression; write module = '.*'"},
           {"[[block]]\nmodule = ['a']\n",
            "f.toml:2:10: module takes a regular expression; write module = '.*'"},
           {"[[block]]\nrule_name = true\n",
            "f.toml:2:13: rule_name takes a text; write rule_name = \"NAME\""},
           {"[[block]]\nxray_always = 'yes'\n",
            "f.toml:2:15: xray_always takes true or false, without quotes"},
           {"[[block]]\nfunction_size_lt = '16'\n",
            "f.toml:2:20: function_size_lt takes a whole number from 0 on; write function_size_lt "
            "= 16"},
           {"[[block]]\nfunction_size_lt = -1\n",
            "f.toml:2:20: function_size_lt takes a whole number from 0 on; write function_size_lt "
            "= 16"},
           {"[[block]]\nfunction_size_lt = 1.5\n",
            "f.toml:2:20: function_size_lt takes a whole number from 0 on; write function_size_lt "
            "= 16"},
           {"[[block]]\nmodule = 'a(b'\n",
            "f.toml:2:10: module: 'a(b' is no regular expression: missing closing parenthesis at "
            "character 4"},
           {"[[block]]\ndemangled_name = 'a'\nfunction_demangled_name = 'a'\n",
            "f.toml:3:1: function_demangled_name stands in the rule twice, once as Spoor spells "
            "it; remove one"},
       }) {
    EXPECT_EQ(Rules().error(toml), expected);
  }
  EXPECT_TRUE(Rules().error("[[block]\n").starts_with("f.toml:1:")) << "what toml++ refuses";
  EXPECT_EQ(Rules().error("a = 1\n [[ .b]]\n"), "f.toml:2:5: a table's name is missing here");
  EXPECT_EQ(Rules().error("[#"), "f.toml:1:2: a table's name is missing here");
  EXPECT_TRUE(Rules().error("[[block]]\nmodule = 'a\n").starts_with("f.toml:2:"));
}

TEST(FunctionFilters, read_the_spellings_of_spoor_with_a_note) {
  Rules rules;
  const auto filters = rules.read(
      "[[block]]\nfunction_ir_instruction_count_lt = 11\n[[allow]]\ndemangled_name = 'x'\n");
  ASSERT_TRUE(filters.has_value());
  EXPECT_FALSE(filters->judge(facts()).is_traced);
  EXPECT_TRUE(filters->needs_instruction_counts());
  EXPECT_EQ(rules.note(0), "f.toml:4:1: demangled_name is read as function_demangled_name");
  EXPECT_EQ(rules.note(1),
            "f.toml:2:1: function_ir_instruction_count_lt is read as "
            "function_instruction_count_lt, and counts machine instructions");
}

TEST(FunctionFilters, say_what_they_need) {
  const auto none = Rules().read("");
  EXPECT_TRUE(none->is_empty());
  EXPECT_FALSE(none->needs_source_files());
  const auto names = Rules().read("[[block]]\nmodule = 'a'\nfunction_size_lt = 3\n");
  EXPECT_FALSE(names->is_empty());
  EXPECT_FALSE(names->needs_source_files());
  EXPECT_FALSE(names->needs_instruction_counts());
  const auto all =
      Rules().read("[[allow]]\nsource_file_path = 'a'\nfunction_instruction_count_gt = 3\n");
  EXPECT_TRUE(all->needs_source_files());
  EXPECT_TRUE(all->needs_instruction_counts());
}

TEST(FunctionFilters, name_the_file_that_cannot_be_read) {
  std::vector<std::string> notes;
  const auto filters = FunctionFilters::read({"/nonexistent/f.toml"}, {}, notes);
  ASSERT_FALSE(filters.has_value());
  EXPECT_EQ(filters.error().code, ENOENT);
  EXPECT_EQ(filters.error().message(), "opening /nonexistent/f.toml: No such file or directory");
  EXPECT_EQ(FunctionFilters::read({}, {"/"}, notes).error().code, EISDIR);
}

TEST(AttributeList, allows_and_blocks_by_line) {
  const std::string list =
      "# of clang\n\n[always]\nfun:_ZN2ns3foo*\nfun:logged=arg1\n [never] \nfun:*\n"
      "src:/src/{lib,app}/*\n";
  const auto filters = Rules().read("", list);
  ASSERT_TRUE(filters.has_value()) << filters.error().message();
  EXPECT_EQ(filters->judge(facts()).reason, "allow:attr-list:4");
  EXPECT_FALSE(filters->judge(facts()).logs_first_argument);
  FunctionFacts known = facts();
  known.linkage_name = "logged";
  EXPECT_EQ(filters->judge(known).reason, "allow:attr-list:5");
  EXPECT_TRUE(filters->judge(known).logs_first_argument);
  known.linkage_name = "bar";
  EXPECT_EQ(filters->judge(known).reason, "block:attr-list:7");
  known.linkage_name = "";
  EXPECT_EQ(filters->judge(known).reason, "block:attr-list:8");
  known.source_file = "/src/other.c";
  EXPECT_EQ(filters->judge(known).reason, "default");
  EXPECT_TRUE(filters->needs_source_files());
}

TEST(AttributeList, logs_an_argument_whichever_rule_tells_the_name) {
  const auto filters = Rules().read("[[allow]]\n", "[always]\nfun:_ZN2ns3fooEi=arg1\n");
  EXPECT_EQ(filters->judge(facts()).reason, "allow:allow#1");
  EXPECT_TRUE(filters->judge(facts()).logs_first_argument);
}

TEST(AttributeList, says_line_and_column_of_each_mistake) {
  for (const auto& [list, expected] : std::vector<std::pair<std::string, std::string>>{
           {"fun:a\n", "x.list:1:1: a line in no section; write [always] or [never] above it"},
           {"[alway]\n", "x.list:1:1: there is no section [alway]; did you mean [always]?"},
           {"[always]\n  func:a\n",
            "x.list:2:3: 'func' begins no line of an attribute list; did you mean fun?"},
           {"[always]\nmain\n",
            "x.list:2:1: 'main' begins no line of an attribute list; known are fun, src"},
           {"[always]\nfun:\n", "x.list:2:5: fun: without a name; write fun:NAME or fun:*"},
           {"[always]\nfun:a=arg2\n",
            "x.list:2:6: =arg2 is not known here; write =arg1 behind a fun: in [always], or leave "
            "it out"},
           {"[never]\nfun:a=arg1\n",
            "x.list:2:6: =arg1 is not known here; write =arg1 behind a fun: in [always], or leave "
            "it out"},
           {"[always]\nsrc:a=arg1\n",
            "x.list:2:6: =arg1 is not known here; write =arg1 behind a fun: in [always], or leave "
            "it out"},
           {"[always]\nfun:[z-a]\n",
            "x.list:2:5: '[z-a]' is no pattern of names: range out of order in character class at "
            "character 4"},
       }) {
    EXPECT_EQ(Rules().error("", list), expected);
  }
}

}  // namespace
}  // namespace sp::symbols
