#include "analyzer/analyzer.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sp::analyzer {
namespace {

constexpr core::ProcessId kProcess{100, 1};
constexpr core::ThreadId kThread{101, 2};

/// Resolves a stop to the one frame of its pc, with the given end.
class FakeStacks final : public StackSource {
 public:
  struct Seen {
    std::vector<std::string> calls;
    core::StackEnd end = core::StackEnd::root;
    std::vector<core::Module> modules;
  };
  explicit FakeStacks(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}

  void process_started(core::ProcessId process, core::ProcessId parent) override {
    seen_->calls.push_back("started " + std::to_string(process.pid) + " of " +
                           std::to_string(parent.pid));
  }
  void process_ended(core::ProcessId process) override {
    seen_->calls.push_back("ended " + std::to_string(process.pid));
  }
  void set_maps(core::ProcessId process, core::ThreadId /*thread*/,
                core::MappingSnapshot mapped) override {
    seen_->calls.push_back("maps of " + std::to_string(process.pid) + ": " +
                           std::to_string(mapped.maps.size()));
  }
  core::Stack resolve(core::ProcessId /*process*/, core::ThreadId /*thread*/,
                      const core::RawStack& raw) override {
    core::Stack stack;
    stack.frames.push_back({{core::ModuleId{1}, raw.registers.pc.value()}, false});
    stack.end = seen_->end;
    return stack;
  }
  core::ModuleOffset locate(core::ProcessId process, core::Address address) override {
    return {static_cast<core::ModuleId>(process.pid), address.value() - 0x1000};
  }
  std::optional<core::Address> address_of(core::ProcessId /*process*/,
                                          core::ModuleOffset where) override {
    return core::Address{where.offset + 0x1000};
  }
  std::vector<core::Module> take_new_modules() override {
    return std::exchange(seen_->modules, {});
  }

 private:
  std::shared_ptr<Seen> seen_;
};

core::RawStack raw_at(std::uint64_t pc) {
  core::RawStack raw;
  raw.registers.pc = core::Address{pc};
  return raw;
}

class Analyzing : public ::testing::Test {
 protected:
  void handle(core::StopDetail detail) {
    analyzer_.handle({kProcess, kThread, core::TimePoint{}, std::move(detail)});
  }
  void wait(std::uint64_t id, std::uint64_t ticks, std::optional<std::uint64_t> pc = {},
            bool unstopped = true) {
    core::OffCpuSample waited;
    waited.wait_id = id;
    waited.ticks = ticks;
    waited.syscall = "futex";
    waited.unstopped = unstopped;
    if (pc) {
      waited.raw = raw_at(*pc);
    }
    handle(std::move(waited));
  }
  template <typename T>
  std::optional<T> record() {
    auto next = records_.try_pop();
    if (!next || !std::holds_alternative<T>(*next)) {
      return std::nullopt;
    }
    return std::get<T>(std::move(*next));
  }
  [[nodiscard]] bool no_record() { return !records_.try_pop(); }

  std::shared_ptr<FakeStacks::Seen> seen_ = std::make_shared<FakeStacks::Seen>();
  core::Channel<core::StopEvent> events_{16};
  core::Channel<core::Record> records_{16};
  core::Channel<core::Request> requests_{2};
  int bells_ = 0;
  Analyzer analyzer_{std::make_unique<FakeStacks>(seen_), events_, records_, requests_,
                     [this] { ++bells_; }};
};

TEST_F(Analyzing, turns_a_stop_into_a_sample) {
  handle(core::Sampled{raw_at(0x1234), true});
  const auto sample = record<core::SampleTaken>();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->process, kProcess);
  EXPECT_EQ(sample->thread, kThread);
  EXPECT_EQ(sample->kind, core::SampleKind::on_cpu);
  EXPECT_EQ(sample->count, 1U);
  EXPECT_EQ(sample->stack.frames.front().where.offset, 0x1234U);
  EXPECT_TRUE(sample->with_stack);
}

TEST_F(Analyzing, resolves_all_stacks_of_a_crash) {
  core::Crashed crashed;
  crashed.signal.number = 11;
  crashed.threads.push_back({kThread, "first", "", raw_at(0x1234)});
  crashed.threads.push_back({{102, 3}, "second", "futex", raw_at(0x2345)});
  handle(std::move(crashed));
  const auto seen = record<core::CrashSeen>();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->process, kProcess);
  EXPECT_EQ(seen->signal.number, 11);
  ASSERT_EQ(seen->threads.size(), 2U);
  EXPECT_EQ(seen->threads[1].syscall, "futex");
  EXPECT_EQ(seen->threads[1].stack.stack.frames[0].where.offset, 0x2345U);
  EXPECT_EQ(seen->threads[1].stack.addresses[0], core::Address{0x3345});
}

TEST_F(Analyzing, tells_of_modules_before_the_samples_that_name_them) {
  core::Module module;
  module.path = "/lib/libx.so";
  seen_->modules.push_back(module);
  handle(core::Sampled{raw_at(1), true});
  const auto first = record<core::ModuleSeen>();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->module.path, "/lib/libx.so");
  EXPECT_TRUE(record<core::SampleTaken>());
}

TEST_F(Analyzing, asks_for_probes_where_a_sample_falls) {
  Analyzer planting(
      std::make_unique<FakeStacks>(seen_), events_, records_, requests_, [this] { ++bells_; },
      InstrumentationPolicy(5));
  planting.handle({kProcess, kThread, {}, core::Sampled{raw_at(0x1234), true}});
  const auto request = requests_.try_pop();
  ASSERT_TRUE(request);
  const auto& wanted = std::get<core::ProbeFunctions>(*request);
  EXPECT_EQ(wanted.process, kProcess);
  EXPECT_EQ(wanted.at, std::vector<core::Address>{core::Address{0x2234}});
  EXPECT_EQ(bells_, 1);
}

TEST_F(Analyzing, asks_for_a_deeper_copy_where_the_copy_ended) {
  seen_->end = core::StackEnd::copy_ended;
  handle(core::Sampled{raw_at(1), true});
  const auto request = requests_.try_pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<core::LargerStackDump>(*request).thread, kThread);
  EXPECT_EQ(bells_, 1);
  EXPECT_TRUE(record<core::SampleTaken>()) << "the partial stack is kept";
}

TEST_F(Analyzing, asks_for_nothing_where_only_the_pc_was_wanted) {
  seen_->end = core::StackEnd::copy_ended;
  handle(core::Sampled{raw_at(1), false});
  EXPECT_FALSE(requests_.try_pop());
  EXPECT_FALSE(record<core::SampleTaken>()->with_stack);
}

TEST_F(Analyzing, goes_on_where_nobody_takes_its_requests) {
  seen_->end = core::StackEnd::copy_ended;
  for (int i = 0; i < 5; ++i) {
    handle(core::Sampled{raw_at(1), true});
  }
  EXPECT_EQ(bells_, 2) << "there was room for two";
}

TEST_F(Analyzing, counts_a_wait_with_its_first_stack) {
  wait(1, 1, 0x10);
  wait(1, 9);
  EXPECT_EQ(record<core::SampleTaken>()->count, 1U);
  const auto more = record<core::SampleTaken>();
  ASSERT_TRUE(more);
  EXPECT_EQ(more->count, 9U);
  EXPECT_EQ(more->kind, core::SampleKind::blocked);
  EXPECT_EQ(more->blocked_in, "futex");
  EXPECT_EQ(more->stack.frames.front().where.offset, 0x10U);
  EXPECT_FALSE(requests_.try_pop()) << "nobody was to be stopped for it";
}

TEST_F(Analyzing, stops_a_waiting_thread_once_where_looking_was_not_enough) {
  seen_->end = core::StackEnd::no_unwind_info;
  wait(1, 1, 0x10);
  const auto request = requests_.try_pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<core::StopBlocked>(*request).wait_id, 1U);
  wait(1, 4);
  EXPECT_TRUE(no_record()) << "held back for the better stack";
  seen_->end = core::StackEnd::root;
  wait(1, 0, 0x20, false);
  const auto sample = record<core::SampleTaken>();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->count, 5U);
  EXPECT_EQ(sample->stack.frames.front().where.offset, 0x20U);
  wait(1, 2);
  EXPECT_EQ(record<core::SampleTaken>()->count, 2U);
  EXPECT_FALSE(requests_.try_pop()) << "once";
}

TEST_F(Analyzing, keeps_the_worse_stack_where_the_wait_ended_first) {
  seen_->end = core::StackEnd::no_unwind_info;
  wait(1, 3, 0x10);
  wait(2, 1, 0x30);
  const auto sample = record<core::SampleTaken>();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->count, 3U);
  EXPECT_EQ(sample->stack.frames.front().where.offset, 0x10U);
}

TEST_F(Analyzing, keeps_the_worse_stack_where_the_thread_ended_first) {
  seen_->end = core::StackEnd::no_unwind_info;
  wait(1, 3, 0x10);
  handle(core::ThreadEnded{"worker"});
  EXPECT_EQ(record<core::SampleTaken>()->count, 3U);
  EXPECT_EQ(record<core::ThreadSeen>()->name, "worker");
}

TEST_F(Analyzing, gives_out_what_it_held_back_when_the_events_end) {
  seen_->end = core::StackEnd::no_unwind_info;
  wait(1, 3, 0x10);
  events_.close();
  analyzer_.run();
  EXPECT_EQ(record<core::SampleTaken>()->count, 3U);
  EXPECT_TRUE(records_.finished());
}

TEST_F(Analyzing, tells_processes_and_threads_on) {
  handle(core::ProcessStarted{{50, 0}, "make all"});
  handle(core::MappingSnapshot{std::vector<core::Mapping>(3)});
  handle(core::ThreadStarted{"make"});
  handle(core::ThreadEnded{""});
  handle(core::ProcessEnded{});
  EXPECT_EQ(record<core::ProcessSeen>()->command, "make all");
  EXPECT_EQ(record<core::ThreadSeen>()->name, "make");
  EXPECT_TRUE(no_record());
  EXPECT_EQ(seen_->calls,
            (std::vector<std::string>{"started 100 of 50", "maps of 100: 3", "ended 100"}));
}

TEST_F(Analyzing, tells_counted_code_by_module_and_the_modules_before_it) {
  const core::TimePoint first{std::chrono::seconds(1)};
  const core::TimePoint last{std::chrono::seconds(2)};
  seen_->modules.resize(1);
  core::CodeCounted counted;
  counted.runs = {{core::Address{0x1010}, {4, 2}}};
  counted.edges = {
      {core::Address{0x1014}, core::Address{0x1010}, core::EdgeFlow::taken, 9, first, last}};
  handle(std::move(counted));
  EXPECT_TRUE(record<core::ModuleSeen>());
  const auto taken = record<core::CodeCountsTaken>();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->process, kProcess);
  const core::ModuleOffset start{core::ModuleId{100}, 0x10};
  ASSERT_EQ(taken->runs.size(), 1U);
  EXPECT_EQ(taken->runs[0], (core::DynamicBlock<core::ModuleOffset>{start, {4, 2}}));
  ASSERT_EQ(taken->edges.size(), 1U);
  EXPECT_EQ(taken->edges[0].from, (core::ModuleOffset{core::ModuleId{100}, 0x14}));
  EXPECT_EQ(taken->edges[0].to, start);
  EXPECT_EQ(taken->edges[0].flow, core::EdgeFlow::taken);
  EXPECT_EQ(taken->edges[0].hits, 9U);
  EXPECT_EQ(taken->edges[0].first, first);
  EXPECT_EQ(taken->edges[0].last, last);
}

TEST_F(Analyzing, passes_losses_and_snapshots_on) {
  handle(core::Lost{12});
  handle(core::SnapshotWanted{});
  EXPECT_EQ(record<core::SamplesLost>()->samples, 12U);
  EXPECT_TRUE(record<core::SnapshotWanted>());
}

TEST_F(Analyzing, learns_from_single_steps_and_asks_for_probes) {
  core::Stepped stepped;
  stepped.path.resize(2);
  stepped.path[0].pc = core::Address{0x10};
  stepped.path[0].size = 1;
  stepped.path[0].code[0] = std::byte{0x90};  // on no CPU does it go to where it went
  stepped.path[1].pc = core::Address{0x500};
  handle(stepped);
  const auto explored = record<core::CodeExplored>();
  ASSERT_TRUE(explored);
  EXPECT_EQ(explored->windows, 1U);
  EXPECT_EQ(explored->steps, 1U);
  EXPECT_EQ(explored->branches, 1U);
  EXPECT_EQ(explored->disagreements, 1U);
  const auto request = requests_.try_pop();
  ASSERT_TRUE(request);
  const auto* probe = std::get_if<core::ProbeFunctions>(&*request);
  ASSERT_NE(probe, nullptr);
  EXPECT_EQ(probe->process, kProcess);
  EXPECT_EQ(probe->at, std::vector{core::Address{0x500}});
  EXPECT_EQ(bells_, 1);
  handle(stepped);  // nothing new
  const auto again = record<core::CodeExplored>();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->branches, 0U);
  EXPECT_FALSE(requests_.try_pop());
}

}  // namespace
}  // namespace sp::analyzer
