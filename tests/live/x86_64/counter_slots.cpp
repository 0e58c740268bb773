// Counters of threads that come and go, in a program that counts in them as copies of functions do.
#include "supervisor/copies/counter_slots.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/function_copy.h"
#include "core/page.h"
#include "live/piped_program.h"
#include "supervisor/copies/copy_region.h"
#include "supervisor/injection/code_cave.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"
#include "supervisor/linux/wait_status.h"
#include "supervisor/startup/attach.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {
namespace {

constexpr std::uint32_t kCounters = 4;
constexpr std::uint64_t kTimes = 1000;
constexpr core::Duration kLimit = std::chrono::seconds(10);

/// Serves the stops of a program's threads and gives each its counters.
class Counted {
 public:
  explicit Counted(std::vector<std::string> arguments, rlim_t addresses = 0)
      : program_("segment_counts", std::move(arguments)) {
    EXPECT_EQ(program_.line(), "ready");
    if (addresses != 0) {
      const rlimit limit{vm_size() + addresses, RLIM_INFINITY};
      EXPECT_EQ(::prlimit(program_.pid(), RLIMIT_AS, &limit, nullptr), 0);
    }
    ptrace::bind_to_this_thread();
    process_ = tracees_.add_process(program_.pid());
    const auto attached = attach_to_all_threads(program_.pid(), {});
    EXPECT_TRUE(attached);
    for (const pid_t tid : *attached) {
      tracees_.add(tid, process_);
    }
    EXPECT_TRUE(interrupt(*tracees_.find(program_.pid())));
    EXPECT_TRUE(ptrace::wait_for(program_.pid()));
  }

  /// The program's main thread, which is stopped from the beginning on.
  [[nodiscard]] RemoteCaller caller() const {
    return {program_.pid(), find_code_cave(program_.pid()).value_or(core::Address{})};
  }
  [[nodiscard]] core::Result<WorldStop> stop_others() {
    return WorldStop::stop(tracees_, *tracees_.find(program_.pid()), kLimit);
  }
  /// Gives all threads that are held their counters.
  core::Result<void> begin(CounterSlots::TableUse use = CounterSlots::TableUse::transfers) {
    const auto world = stop_others();
    EXPECT_TRUE(world) << world.error().message();
    EXPECT_EQ(world->asleep(), 0U);
    auto made = CounterSlots::create(caller(), use);
    if (!made) {
      return tl::unexpected(made.error());
    }
    slots_.emplace(*std::move(made));
    first_ = slots_->allocate(kCounters).value_or(0);
    for (const HeldThread& thread : world->threads()) {
      give_counters(thread.tid);
    }
    return {};
  }
  /// Lets everybody run who is in a stop.
  void go() {
    while (const auto tid = tracees_.next_left_report()) {
      if (const auto report = ptrace::watch(*tid); report && *report) {
        on_report(**report);
      }
    }
    EXPECT_TRUE(ptrace::resume(program_.pid(), 0));
  }
  /// Stops the main thread again, which sleeps.
  void stop_main() {
    EXPECT_TRUE(interrupt(*tracees_.find(program_.pid())));
    EXPECT_TRUE(ptrace::wait_for(program_.pid()));
  }
  void tell_address() { program_.say(fmt::format("{:x}\n", slots_->counters_at(first_))); }
  void next_round() { program_.say("\n"); }
  std::string next_line() {
    while (!program_.has_spoken(0)) {
      const auto report = ptrace::watch_any(false);
      if (report && *report) {
        on_report(**report);
      } else {
        (void)program_.has_spoken(1);
      }
    }
    return program_.line();
  }
  /// Until the program has ended.
  void serve_to_the_end() {
    for (auto report = ptrace::watch_any(true); report; report = ptrace::watch_any(true)) {
      on_report(**report);
      if (tracees_.empty()) {
        break;
      }
    }
    program_.has_ended();
  }
  void expect_sums(std::uint64_t threads_and_rounds) const {
    const auto sums = slots_->sums(first_, kCounters);
    for (std::uint32_t i = 0; i < kCounters; ++i) {
      EXPECT_EQ(sums[i], kTimes * (i + 1) * threads_and_rounds) << "counter " << i;
    }
  }
  [[nodiscard]] std::string maps() const {
    return read_proc(fmt::format("/proc/{}/maps", program_.pid())).value_or("");
  }
  CounterSlots& slots() { return *slots_; }
  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  [[nodiscard]] std::uint64_t grown() const { return grown_; }

 private:
  [[nodiscard]] rlim_t vm_size() const {
    const auto status = read_proc(fmt::format("/proc/{}/status", program_.pid()));
    const auto field = status_field(*status, "VmSize");
    return std::stoull(std::string(*field)) << 10U;
  }
  void give_counters(pid_t tid) {
    auto base = slots_->assign(tid);
    if (!base) {
      ++grown_;
      const auto grown = slots_->grow({tid, caller().place});
      EXPECT_TRUE(grown) << grown.error().message();
      base = slots_->assign(tid);
    }
    ASSERT_TRUE(base);
    EXPECT_TRUE(set_counter_base(tid, *base));
  }
  void on_report(const ptrace::Report& report) {
    const WaitStatus status = parse_wait_status(report.status);
    if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status)) {
      ++ended_;
      if (slots_) {
        slots_->release(report.tid);
      }
      tracees_.remove(report.tid);
      return;
    }
    if (tracees_.find(report.tid) == nullptr) {
      tracees_.add(report.tid, process_);
      if (slots_) {
        give_counters(report.tid);
      }
    }
    const auto* const signal = std::get_if<SignalDelivery>(&status);
    (void)ptrace::resume(report.tid, signal != nullptr ? signal->signal : 0);
  }

  test::PipedProgram program_;
  TraceeTable tracees_;
  std::shared_ptr<TracedProcess> process_;
  std::optional<CounterSlots> slots_;
  std::uint32_t first_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t grown_ = 0;
};

/// A thread's slot as the thread sees it.
class SlotInTarget {
 public:
  SlotInTarget(CounterSlots& slots, pid_t tid) : memory_(tid), base_(slots.assign(tid)) {
    EXPECT_TRUE(base_);
  }
  void put(std::uint64_t at, std::uint64_t value) const {
    EXPECT_TRUE(
        memory_.write(core::Address{at} + base_.value_or(0), std::as_bytes(std::span(&value, 1))));
  }

 private:
  TargetMemory memory_;
  std::optional<std::uint64_t> base_;
};

/// Its only one, in which each of so many threads counts.
void run_one_round(Counted& program, std::uint64_t threads) {
  program.go();
  program.tell_address();
  ASSERT_EQ(program.next_line(), "1");
  program.expect_sums(threads);
  program.next_round();
  EXPECT_EQ(program.next_line(), "right");
  program.serve_to_the_end();
}

TEST(CounterSlots, count_exactly_for_threads_that_come_and_go) {
  constexpr int kRounds = 50;
  Counted program({"8", "8", std::to_string(kRounds)});
  ASSERT_TRUE(has_free_counter_segment(program.caller().tid));
  const auto begun = program.begin();
  ASSERT_TRUE(begun) << begun.error().message();
  constexpr std::uint64_t kTable =
      core::TransferTable::kEntries * core::TransferTable::kEntrySize + core::kPageSize;
  EXPECT_EQ(program.slots().capacity(), ((8U << 20U) - kTable) / 8);
  program.go();
  program.tell_address();
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_EQ(program.next_line(), std::to_string(round));
    program.expect_sums(static_cast<std::uint64_t>(round) * (8 + 8 + 1));
    program.next_round();
  }
  EXPECT_EQ(program.next_line(), "right");
  program.serve_to_the_end();
  program.expect_sums(kRounds * (8 + 8 + 1));
  EXPECT_EQ(program.ended(), 1U + 8 + 8 * kRounds);
  EXPECT_EQ(program.grown(), 0U);
}

TEST(CounterSlots, are_made_when_there_are_more_threads) {
  Counted program({"100", "3", "2"});
  const auto begun = program.begin();
  ASSERT_TRUE(begun) << begun.error().message();
  EXPECT_EQ(program.grown(), 1U);
  program.go();
  program.tell_address();
  for (const std::uint64_t round : {1, 2}) {
    ASSERT_EQ(program.next_line(), std::to_string(round));
    program.expect_sums(round * (100 + 3 + 1));
    program.next_round();
  }
  EXPECT_EQ(program.next_line(), "right");
  program.serve_to_the_end();
}

TEST(CounterSlots, are_fewer_and_shorter_where_addresses_are_scarce) {
  // An eighth of what is left is for counters.
  for (const auto& [megabytes, slot_size] : {std::pair{160U, 1U << 20U}, {20U, 64U << 10U}}) {
    Counted program({"2", "0", "1"}, rlim_t{megabytes} << 20U);
    const auto begun = program.begin();
    ASSERT_TRUE(begun) << begun.error().message();
    EXPECT_EQ(program.slots().capacity(), slot_size / 8);
    ASSERT_NO_FATAL_FAILURE(run_one_round(program, 2 + 1));
  }
}

TEST(CounterSlots, are_refused_where_there_are_no_addresses) {
  Counted program({"1", "0", "0"}, rlim_t{100} << 10U);
  const std::string maps = program.maps();
  const auto begun = program.begin();
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ENOMEM);
  EXPECT_EQ(program.maps(), maps);
  program.go();
  program.next_round();
  EXPECT_EQ(program.next_line(), "right");
  program.serve_to_the_end();
}

// What a copy writes is written here: an entry, then how many there are.
TEST(CounterSlots, hold_transfers_that_are_taken_and_taken_back) {
  using core::Address;
  using core::TransferTable;
  constexpr std::uint32_t kSite = 0x7F00'0040;
  constexpr Address kTarget{0x1234'5678'9ABC};
  Counted program({"2", "0", "1"});
  ASSERT_TRUE(program.begin());
  CounterSlots& slots = program.slots();
  const pid_t tid = program.caller().tid;
  const auto table = slots.transfers_at();
  ASSERT_TRUE(table);
  const SlotInTarget slot(slots, tid);
  const auto put = [&](std::uint64_t at, std::uint64_t value) { slot.put(at, value); };
  // The entry behind the one that the pair would have, which is another's.
  const std::uint64_t first = TransferTable::first_of(kSite, kTarget);
  const std::uint64_t other = table->entries + first * TransferTable::kEntrySize;
  const std::uint64_t entry = other + TransferTable::kEntrySize;
  put(other + TransferTable::kTarget, 1);
  put(other + TransferTable::kSite, kSite);
  put(entry + TransferTable::kTarget, kTarget.value());
  put(entry + TransferTable::kCount, 5);
  EXPECT_TRUE(slots.take_transfers().empty());  // an entry begins with its site
  put(entry + TransferTable::kSite, kSite);
  const auto expect_taken = [&](std::int64_t count) {
    const auto taken = slots.take_transfers();
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].site, kSite);
    EXPECT_EQ(taken[0].target, kTarget);
    EXPECT_EQ(taken[0].count, count);
  };
  expect_taken(5);
  EXPECT_TRUE(slots.take_transfers().empty());
  slots.take_back_transfer(tid, kSite, kTarget);
  expect_taken(-1);
  slots.take_back_transfer(tid, kSite + 8, kTarget);  // there is none
  EXPECT_TRUE(slots.take_transfers().empty());
  put(entry + TransferTable::kCount, 11);
  put(table->used, TransferTable::kEntries / 2);
  slots.make_room_for_transfers(tid);
  expect_taken(7);
  put(entry + TransferTable::kCount, 12);
  put(table->used, TransferTable::kEntries / 2 + 1);
  slots.make_room_for_transfers(tid);
  expect_taken(1);
  put(entry + TransferTable::kCount, 2);
  EXPECT_TRUE(slots.take_transfers().empty());  // the entry is gone
  put(table->lost, 3);
  EXPECT_EQ(slots.lost_transfers(), 3U);
  ASSERT_NO_FATAL_FAILURE(run_one_round(program, 2 + 1));
  EXPECT_EQ(slots.lost_transfers(), 3U);
}

TEST(CounterSlots, hold_events_that_are_taken_and_taken_back) {
  using core::Address;
  using core::EventRing;
  constexpr std::uint64_t kLast = EventRing::kBytes - EventRing::kEntrySize;
  Counted program({"2", "0", "1"});
  ASSERT_TRUE(program.begin(CounterSlots::TableUse::events));
  CounterSlots& slots = program.slots();
  const pid_t tid = program.caller().tid;
  const auto ring = slots.ring_at();
  ASSERT_TRUE(ring);
  EXPECT_FALSE(slots.transfers_at());
  const SlotInTarget slot(slots, tid);
  const auto put = [&](std::uint64_t at, std::uint64_t value) { slot.put(at, value); };
  const auto write = [&](std::uint64_t at, std::uint32_t place) {
    put(ring->entries + at + EventRing::kTicks, 1'000 + place);
    put(ring->entries + at + EventRing::kSp, 2'000 + place);
    put(ring->entries + at + EventRing::kWord, 3'000 + place);
    put(ring->entries + at + EventRing::kPlace, place);
    put(ring->cursor, (at + EventRing::kEntrySize) % EventRing::kBytes);
  };
  const auto places = [&](std::uint32_t left) {
    std::vector<std::uint32_t> found;
    for (const CounterSlots::Event& event : slots.take_events(tid, left).events) {
      EXPECT_EQ(event.ticks, 1'000 + event.place);
      EXPECT_EQ(event.sp, Address{2'000U + event.place});
      EXPECT_EQ(event.word, Address{3'000U + event.place});
      found.push_back(event.place);
    }
    return found;
  };
  using Places = std::vector<std::uint32_t>;
  EXPECT_EQ(places(0), Places{});
  put(ring->read, kLast);
  write(kLast, 1);
  write(0, 2);
  write(EventRing::kEntrySize, 3);
  EXPECT_EQ(places(1), (Places{1, 2}));
  EXPECT_EQ(places(1), Places{});
  slots.take_back_event(tid);
  EXPECT_EQ(places(0), Places{});
  slots.take_back_event(tid);  // it was taken
  EXPECT_EQ(places(0), Places{});
  write(EventRing::kEntrySize, 4);
  put(ring->lost, 3);
  EXPECT_EQ(slots.take_events(tid, 1).lost, 3U);
  put(ring->lost, 5);
  EXPECT_EQ(slots.take_events(tid, 1).lost, 2U);
  EXPECT_EQ(places(0), Places{4});
  EXPECT_TRUE(slots.take_transfers().empty());
  slots.make_room_for_transfers(tid);
  EXPECT_EQ(slots.take_events(tid + 1, 0).events.size(), 0U);
  ASSERT_NO_FATAL_FAILURE(run_one_round(program, 2 + 1));
}

TEST(CounterSlots, are_corrected_and_given_out_again) {
  Counted program({"2", "0", "1"});
  const std::string maps = program.maps();
  ASSERT_TRUE(program.begin());
  CounterSlots& slots = program.slots();
  const pid_t tid = program.caller().tid;
  EXPECT_TRUE(slots.adjust(tid, program.first() + 1, -1));
  EXPECT_TRUE(slots.adjust(tid, program.first() + 2, +1));
  program.go();
  program.tell_address();
  ASSERT_EQ(program.next_line(), "1");
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(slots.counts_of(tid, program.first(), kCounters), (Counts{1000, 1999, 3001, 4000}));
  EXPECT_EQ(slots.sums(program.first() + 1, 2), (Counts{5999, 9001}));
  EXPECT_EQ(slots.counts_of(1, program.first(), kCounters), Counts(kCounters));
  program.stop_main();
  slots.free(program.first() + 1, 2);
  EXPECT_EQ(slots.sums(program.first(), kCounters), (Counts{3000, 0, 0, 12000}));
  EXPECT_EQ(slots.allocate(2), program.first() + 1);
  EXPECT_EQ(slots.allocate(1), program.first() + kCounters);
  EXPECT_FALSE(slots.allocate(slots.capacity()));
  EXPECT_NE(program.maps(), maps);
  slots.unmap(program.caller());
  EXPECT_EQ(program.maps(), maps);
  program.go();
  program.next_round();
  EXPECT_EQ(program.next_line(), "right");
  program.serve_to_the_end();
}

TEST(CounterSlots, see_that_the_program_uses_the_segment) {
  Counted program({"0", "0", "0", "gs"});
  EXPECT_FALSE(has_free_counter_segment(program.caller().tid));
}

TEST(CounterSlots, see_that_nothing_is_mapped_at_a_base_that_was_left) {
  Counted program({"0", "0", "0"});
  const pid_t tid = program.caller().tid;
  constexpr std::uint64_t kUnmapped = 0x1000;
  ASSERT_TRUE(set_counter_base(tid, kUnmapped));
  EXPECT_TRUE(has_free_counter_segment(tid));
  const auto registers = ptrace::registers(tid);
  ASSERT_TRUE(registers);
  ASSERT_TRUE(set_counter_base(tid, arch::Native::sp(*registers).value()));
  EXPECT_FALSE(has_free_counter_segment(tid));
  ASSERT_TRUE(set_counter_base(tid, 0));
}

TEST(CopyRegion, is_executable_memory_near_a_module) {
  Counted program({"0", "0", "0"});
  const std::string before = program.maps();
  const auto maps = core::parse_maps(before);
  core::AddressRange module;
  for (const core::Mapping& mapping : maps) {
    if (mapping.path.ends_with("/segment_counts")) {
      module = {module.begin == core::Address{} ? mapping.range.begin : module.begin,
                mapping.range.end};
    }
  }
  CopyRegion copies(module, 100'000);
  EXPECT_FALSE(copies.allocate(1, 1));
  const auto grown = copies.grow(program.caller(), 10);
  ASSERT_TRUE(grown) << grown.error().message();
  EXPECT_GE(copies.mapped(), 200'000U);
  const auto first = copies.allocate(100, 16);
  const auto second = copies.allocate(33, 64);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->value() % 64, 0U);
  EXPECT_TRUE(copies.contains(*first));
  EXPECT_FALSE(copies.contains(module.begin));
  EXPECT_LT(std::max(module.end, *second) - std::min(module.begin, *first), 1ULL << 31U);

  const TargetMemory memory(program.caller().tid);
  const std::vector<std::byte> code(100, std::byte{0x90});
  std::vector<std::byte> there(100);
  EXPECT_TRUE(memory.write(*first, code));
  EXPECT_EQ(memory.read(*first, there), there.size());
  EXPECT_EQ(there, code);
  const auto now = core::parse_maps(program.maps());
  const core::Mapping* const mapping = core::find_mapping(now, *first);
  ASSERT_NE(mapping, nullptr);
  EXPECT_TRUE(mapping->executable && !mapping->writable && !mapping->shared);

  copies.free({*first, *first + 100});
  EXPECT_EQ(copies.used(), 33U);
  EXPECT_EQ(copies.allocate(100, 16), first);
  copies.free({*first, *first + 100});
  copies.free({*second, *second + 33});
  EXPECT_EQ(copies.used(), 0U);
  EXPECT_EQ(copies.allocate(copies.mapped(), 16), copies.regions().front().begin);
  copies.unmap(program.caller());
  EXPECT_EQ(program.maps(), before);
}

}  // namespace
}  // namespace sp::supervisor
