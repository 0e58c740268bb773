#include "profiler/formats/tree_json.h"

#include <gtest/gtest.h>

#include <sstream>

#include "profiler/formats/compact_json.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/tree/tree_events.h"

namespace sp::profiler {
namespace {

using test::TreeEvents;

constexpr std::uint64_t kMain = 0x1000;
constexpr std::uint64_t kOdd = 0x2000;

std::string named(core::ModuleOffset start) { return start.offset == kMain ? "main" : "op;\"<\n"; }

class TreeJson : public testing::Test {
 protected:
  TreeJson() {
    core::Module program = test::module(test::kProgram, core::ModuleKind::file, "/usr/bin/demo");
    program.build_id = "00ff10";
    modules_.push_back(program);
    ids_.add(program);
  }

  std::string written(const ContextTree& tree, bool by_thread) {
    const core::RunFacts facts = test::facts();
    const TreeReport report{facts, "0.1.0", false, by_thread, false, {}, modules_};
    std::ostringstream out;
    write_tree_json(out, report, tree, ids_,
                    {named, [](core::ThreadId id) { return "worker-" + std::to_string(id.tid); }});
    return out.str();
  }

  test::TableNamer namer_;
  TreeIds ids_;
  std::vector<core::Module> modules_;
};

TEST_F(TreeJson, has_a_node_a_line) {
  ContextTree tree({}, namer_);
  tree.add(TreeEvents()
               .enter(kMain, 100)
               .enter(kOdd, 90, kMain + 0x11)
               .leave(kOdd, 90)
               .enter(kOdd, 90, kMain + 0x21)
               .enter(kOdd, 80, kOdd + 0x11)
               .taken());
  tree.add(test::sample({kOdd + 4, kMain + 0x21}));
  tree.add(test::sample({kMain + 4}));
  auto ended = TreeEvents().enter(kOdd, 1).taken();
  ended.batch.events.clear();
  ended.batch.functions[0].until = core::TimePoint(std::chrono::milliseconds(1500));
  tree.add(ended);
  test::expect_golden("tree.json", written(tree, false));
}

TEST_F(TreeJson, parts_threads) {
  ContextTree tree({.by_thread = true}, namer_);
  tree.add(TreeEvents().of_thread(7).enter(kMain, 100).taken());
  tree.add(TreeEvents().of_thread(8).enter(kMain, 50).taken());
  const std::string text = written(tree, true);
  EXPECT_NE(text.find("{\"thread\":7,\"name\":\"worker-7\",\"callees\":[\n"), std::string::npos)
      << text;
}

TEST_F(TreeJson, of_many_nodes_is_written_piece_by_piece) {
  ContextTree tree({}, namer_);
  TreeEvents events;
  for (std::uint64_t at = 0; at < 40'000; ++at) {
    events.enter(kMain, 1000 + at % 7, at);
  }
  tree.add(events.taken());
  TreeEvents wide;
  wide.enter(kOdd, 5000);
  for (std::uint64_t at = 0; at < 40'000; ++at) {
    wide.enter(kMain, 4000, kOdd + at).leave(kMain, 4000);
  }
  tree.add(wide.taken());
  const std::string text = written(tree, false);
  EXPECT_GT(text.size(), std::size_t{1} << 21U);
  EXPECT_EQ(text.find("[,"), std::string::npos);
  EXPECT_EQ(text.find("}{"), std::string::npos);
  EXPECT_EQ(text.find("}\n{"), std::string::npos);
  EXPECT_EQ(text.find(",\n,"), std::string::npos);
}

TEST(CompactJson, writes_large_numbers_as_strings) {
  std::string text;
  CompactJson json(text);
  json.open('{');
  json.key("a").number((std::uint64_t{1} << 53U) - 1);
  json.key("b").number(std::uint64_t{1} << 53U);
  json.count("c", 0);
  json.text_key("d\"").string("e:");
  json.key("f").open('[');
  json.null();
  json.boolean(true);
  json.close(']');
  json.close('}');
  EXPECT_EQ(
      text,
      "{\"a\":9007199254740991,\"b\":\"9007199254740992\",\"d\\\"\":\"e:\",\"f\":[null,true]}");
}

}  // namespace
}  // namespace sp::profiler
