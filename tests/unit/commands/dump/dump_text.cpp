#include "commands/dump/dump_text.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace sp::dump {
namespace {

constexpr core::ModuleId kProgram{1};

/// f at 0x100, with g inlined into it at 0x110; nothing else has a name.
class Names final : public profiler::Namer {
 public:
  void add_module(const core::Module& /*module*/) override {}
  [[nodiscard]] const std::vector<symbols::NamedFrame>& name(core::ModuleOffset where,
                                                             bool is_return_address) override {
    asked.emplace_back(where.offset, is_return_address);
    answer_ =
        where.offset >= 0x100
            ? std::vector<symbols::NamedFrame>{function(where.offset)}
            : std::vector<symbols::NamedFrame>{{"a.out+0x40", false, 0x40, false, std::nullopt}};
    if (where.offset == 0x110) {
      answer_.insert(answer_.begin(), {"g", true, 0x100, true, symbols::SourceLine{"g.h", 7}});
    }
    return answer_;
  }

  std::vector<std::pair<std::uint64_t, bool>> asked;

 private:
  static symbols::NamedFrame function(std::uint64_t offset) {
    return {"f(int)", true, 0x100, false,
            symbols::SourceLine{"f.c", static_cast<std::uint32_t>(offset)}};
  }
  std::vector<symbols::NamedFrame> answer_;
};

/// A thread that runs in g, inlined into f, called by code without a name; one that sleeps and
/// whose outer frames are missing; one that was not seen in time.
NamedDump dump() {
  supervisor::ThreadDump seen;
  seen.threads = {{{7, 1}, "main\nthread", 'R', "", true},
                  {{8, 2}, "worker", 'S', "futex", true},
                  {{9, 3}, "late", 'R', "", false}};
  seen.stopped = 1;
  seen.stopped_for = std::chrono::microseconds(312);
  const Stacks stacks = {
      {{7, 1}, {{{{kProgram, 0x110}, false}, {{kProgram, 0x48}, true}}, core::StackEnd::root}},
      {{8, 2}, {{{{kProgram, 0x120}, false}}, core::StackEnd::bad_memory}}};
  core::Module program;
  program.path = "/bin/a.out";
  Names names;
  NamedDump named = name_dump(std::move(seen), stacks, {{kProgram, program}}, names);
  EXPECT_EQ(names.asked.at(1), (std::pair<std::uint64_t, bool>{0x48, true}));
  named.pid = 7;
  named.command = "a.out x";
  return named;
}

TEST(DumpText, has_a_line_for_each_call) {
  std::ostringstream out;
  write_text(out, dump());
  EXPECT_EQ(out.str(),
            "process 7 a.out x: 3 threads\n"
            "\n"
            "thread 7 \"main thread\" running\n"
            "    #0 g (inlined) g.h:7\n"
            "    #1 f(int)+0x10 (a.out+0x110) f.c:272\n"
            "    #2 a.out+0x40 (a.out+0x48)\n"
            "\n"
            "thread 8 \"worker\" sleeping in futex\n"
            "    #0 f(int)+0x20 (a.out+0x120) f.c:288\n"
            "  ... outer frames are missing: the frames lead to unreadable memory\n"
            "\n"
            "thread 9 \"late\" running\n"
            "  no stack: it was neither asleep nor stopped in time\n");
}

TEST(DumpText, says_the_same_in_json) {
  std::ostringstream out;
  profiler::JsonWriter writer(out);
  write_json(writer, dump());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json.at("stopped_us"), 312);
  EXPECT_EQ(json.at("stopped_threads"), 1);
  const auto& threads = json.at("threads");
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads[0].at("name"), "main\nthread");
  const auto& inlined = threads[0].at("stack").at(0);
  EXPECT_EQ(inlined.at("function"), "g");
  EXPECT_TRUE(inlined.at("inlined"));
  EXPECT_TRUE(inlined.at("offset").is_null());
  EXPECT_EQ(threads[0].at("stack").at(1).at("offset"), 0x10);
  EXPECT_EQ(threads[0].at("stack").at(1).at("line"), 272);
  EXPECT_TRUE(threads[0].at("stack").at(2).at("offset").is_null());
  EXPECT_EQ(threads[0].at("stack").at(2).at("module"), "/bin/a.out");
  EXPECT_EQ(threads[0].at("stack").at(2).at("module_offset"), 0x48);
  EXPECT_EQ(threads[1].at("syscall"), "futex");
  EXPECT_EQ(threads[1].at("truncated_by"), "bad_memory");
  EXPECT_TRUE(threads[2].at("stack").is_null());
}

TEST(DumpText, says_what_the_dump_cost) {
  NamedDump seen = dump();
  EXPECT_EQ(cost_text(seen), "stopped for 0.31 ms: 1 of 3 threads; who sleeps was not");
  seen.stopped = 3;
  EXPECT_EQ(cost_text(seen), "stopped for 0.31 ms: 3 of 3 threads");
  seen.stopped = 0;
  EXPECT_EQ(cost_text(seen), "nothing was stopped: all are asleep");
}

}  // namespace
}  // namespace sp::dump
