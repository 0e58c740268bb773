#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/code_references.h"
#include "core/control_flow_graph.h"
#include "core/messages.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/copies/code_patches.h"
#include "supervisor/copies/copy_space.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/instruments/probes/block_table.h"
#include "supervisor/instruments/probes/count_propagation.h"
#include "supervisor/instruments/probes/function_copies.h"
#include "supervisor/instruments/probes/function_index.h"
#include "supervisor/instruments/probes/hot_blocks.h"
#include "supervisor/instruments/probes/hot_functions.h"
#include "supervisor/instruments/probes/probed_block.h"
#include "supervisor/instruments/probes/probed_function.h"
#include "supervisor/instruments/probes/reached_code.h"
#include "supervisor/instruments/probes/trace_state.h"

namespace sp::supervisor {

class ProbedCode;
/// Unmaps the memory of copies; see copied_code.h.
void unmap_copies(ProbedCode& code, pid_t tid);

/// The probes in one address space: breakpoints that count basic blocks, each on an instruction
/// that the tracer can emulate if there is one. A function first has one breakpoint, on its entry;
/// when control comes there its blocks are discovered and get their own. Joins the breakpoint table
/// with what is known of functions, blocks and counts. Shared by processes that share their memory
/// (vfork). Runs on the ptrace thread.
class ProbedCode : public InstrumentedCode {
 public:
  using Block = ProbedBlock;
  using Since = InstrumentedSince;

  /// With `derives`, blocks whose counts follow from those of others get no probe. With `coverage`,
  /// which outlives it, a probe is there until its first hit.
  ProbedCode(core::ProcessId owner, pid_t tid, CodeAnalysis& analysis, Guardian& guardian,
             bool derives = false, RunCoverage* coverage = nullptr)
      : InstrumentedCode(owner, tid, true, guardian),
        analysis_(analysis),
        coverage_(coverage),
        patches_(*this, guardian),
        derives_(derives) {}
  /// A forked child's, as BreakpointTable's; its counts start at 0.
  ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent);

  [[nodiscard]] bool should_reinsert(const BreakpointSite& site) const override {
    return site.gate != Gate::none ||
           (site.block != BreakpointSite::kNoBlock && is_to_have_probe(blocks_[site.block]));
  }

  void unmap_memory(pid_t tid) override { unmap_copies(*this, tid); }

  // Modules.
  [[nodiscard]] bool is_instrumented(core::AddressRange mapped) const {
    return functions_.has_module(mapped);
  }
  [[nodiscard]] bool instruments_anything() const { return !functions_.empty(); }
  /// A module is unmapped: first what its copies have counted is final, for take().
  void end_module(core::AddressRange mapped);
  void forget_module(core::AddressRange mapped);
  [[nodiscard]] std::vector<core::AddressRange> unmapped_modules(
      const std::vector<core::Mapping>& maps) const {
    return functions_.unmapped_modules(maps);
  }
  /// The address of the loader's function with a breakpoint of ours; 0: there is none. See
  /// probed_modules.h.
  [[nodiscard]] core::Address& loader_breakpoint() { return loader_; }
  [[nodiscard]] bool has_loader_breakpoint() const { return loader_ != core::Address{}; }
  /// `address` is in that short function.
  [[nodiscard]] bool is_in_loader_function(core::Address address) const {
    constexpr std::uint64_t kLongest = 8;
    return has_loader_breakpoint() && address >= loader_ && address - loader_ < kLongest;
  }

  // Functions.

  /// Control is about to come to `address`, in a function with blocks to discover: see
  /// instrument_function().
  [[nodiscard]] bool needs_instrumentation(core::Address address) const;
  /// `address` is the entry of a function that was not called yet.
  [[nodiscard]] bool is_awaiting_entry(core::Address address) const;
  /// Where control has to come in, for instrument_function(), so that `address` gets a block: a
  /// thread was found there. Nothing if `address` is in a known block, or in no function.
  [[nodiscard]] std::optional<core::Address> uninstrumented_at(core::Address address) const;
  /// Discovers the blocks of the function that holds the addresses (one or more) and inserts their
  /// probes, which count from now. New blocks may have been executed before `uncounted_until`.
  void instrument_function(std::span<const core::Address> entered,
                           std::optional<core::TimePoint> uncounted_until);
  /// Removes the breakpoints on the entries of functions that were not entered. Those stay
  /// uninstrumented until instrument_function() or arm_entry().
  void disarm_entries();
  /// Inserts the breakpoint on the entry of an uninstrumented function again.
  void arm_entry(core::Address address, core::TimePoint now);
  [[nodiscard]] bool is_in_function(core::Address address) const {
    return functions_.at(address) != nullptr;
  }
  /// In a function that is not instrumented or has an indirect jump with unknown targets, and that
  /// was not explored often yet.
  [[nodiscard]] bool needs_exploration(core::Address address) const;
  void note_exploration(core::Address address);
  /// Requests that came while the budget was exceeded.
  [[nodiscard]] core::ProbeFunctions& postponed() { return postponed_; }

  // Copies that functions run from; see Promotion.

  /// Modules whose stubs have probes.
  [[nodiscard]] std::set<core::Address>& modules_with_stubs() { return modules_with_stubs_; }
  [[nodiscard]] HotFunctions& hot_functions() { return hot_functions_; }
  [[nodiscard]] FunctionIndex& functions() { return functions_; }
  /// The site for a breakpoint on a function's first instruction.
  [[nodiscard]] BreakpointSite& entry_site(const core::Instruction& first) {
    return site_of(first);
  }
  [[nodiscard]] ProbedFunction& function(std::uint32_t number) { return functions_[number]; }
  /// The function's flow graph, as far as it follows from its code and from where control came in.
  [[nodiscard]] core::ControlFlowGraph analyze(const ProbedFunction& function,
                                               std::span<const core::Address> entered,
                                               const core::TableHints* hints = nullptr);
  /// The function's blocks become those of a graph that has no address unmapped, and get probes.
  void adopt(ProbedFunction& function, const core::ControlFlowGraph& graph);
  /// The site for a landing of a copy that is a breakpoint.
  [[nodiscard]] BreakpointSite& landing_site(const core::Instruction& instruction,
                                             core::Address copy) {
    BreakpointSite& site = site_of(instruction);
    site.copy = copy;
    return site;
  }
  /// Inserts the probes of an instrumented function that are missing.
  void insert_probes(const ProbedFunction& function);
  [[nodiscard]] std::vector<BreakpointSite*> missing_probes(const ProbedFunction& function);
  [[nodiscard]] FunctionCopies& copies() { return copies_; }
  [[nodiscard]] CodePatches& patches() { return patches_; }
  void begin_copy(std::uint32_t function, CopiedFunctions::Copy copy, const CopyBegin& how) {
    copies_.begin(functions_[function], std::move(copy), blocks_, how);
  }
  /// The copy jumps to the block that starts there, as calls do.
  void note_jumps_to(core::Address start) {
    if (const Block* const block = blocks_.starting_at(start)) {
      blocks_[block->number].is_jumped_to = true;
    }
  }
  void end_copy(const core::FunctionCopy& copy) {
    copies_.end(*functions_.at(copy.original.begin));
  }
  void end_edges_of(const core::FunctionCopy& copy, core::Address pc, core::TimePoint now) {
    copies_.end_edges_of(copy, pc, blocks_, now);
  }
  void replace_copy(CopiedFunctions::Copy copy) { copies_.replace(std::move(copy)); }
  /// A signal was delivered there: when its handler returns the thread goes on at `pc`.
  void note_interrupted(core::Address pc) { interrupted_.insert(pc); }
  [[nodiscard]] const std::set<core::Address>& interrupted() const { return interrupted_; }
  /// The process was not traced from its first instruction, and what signals had interrupted by
  /// then is not known; see find_interrupted().
  [[nodiscard]] bool& has_unknown_frames() { return has_unknown_frames_; }
  [[nodiscard]] Block& block(std::uint32_t number) { return blocks_[number]; }
  /// Forked so short a time ago that it may well have nothing to do but exec or end.
  [[nodiscard]] bool is_young_child(core::TimePoint now) const {
    constexpr core::Duration kYoung = std::chrono::milliseconds(20);
    return now - forked_ < kYoung;
  }
  /// What the program's probes cost beside counting: cleaning its forked children and serving
  /// them, who mostly are gone in a moment, and serving gates. Shared with these children.
  [[nodiscard]] core::Duration& beside() { return *beside_; }
  /// It was given up for that: nothing of ours is to stay in the program.
  [[nodiscard]] bool& is_to_be_left() { return is_to_be_left_; }
  /// Adds what copies have counted to their blocks. `is_still`: no thread runs in them, and where
  /// those are that were in the middle of a block is known.
  void collect_copies(bool is_still = false);
  void collect_transfers();
  /// The memory of the copies; null: there is none.
  [[nodiscard]] std::shared_ptr<CopySpace>& copy_space() { return copy_space_; }
  /// A forked child's: its parent's memory, which it has, too, and does not use.
  [[nodiscard]] std::shared_ptr<CopySpace>& inherited_copy_space() { return inherited_; }

  // What is reached at all; see coverage.h.

  /// Null: executions are counted.
  [[nodiscard]] RunCoverage* coverage() const { return coverage_; }
  [[nodiscard]] bool needs_probe(const Block& block) const;
  [[nodiscard]] bool is_to_have_probe(const Block& block) const;
  /// The file with the code there; null: none of which coverage is wanted.
  [[nodiscard]] CoveredFile* covered_file(core::Address address);
  [[nodiscard]] CodeAnalysis& analysis() { return analysis_; }
  /// Modules of which cold parts of functions have probes; see known_jumps.h.
  [[nodiscard]] std::set<core::Address>& modules_with_parts() { return modules_with_parts_; }
  /// RunCoverage::news() when the probes of what others had reached were last removed.
  [[nodiscard]] std::uint64_t& news_seen() { return news_seen_; }
  /// Of files that the profiler has not been told of.
  [[nodiscard]] std::vector<core::CoverableFunction<core::Address>>& untold_functions() {
    return untold_functions_;
  }

  /// Nothing: functions are not traced; see function_trace.h.
  [[nodiscard]] std::optional<TraceState>& trace() { return trace_; }

  // Counts.

  [[nodiscard]] Block& block_of(const BreakpointSite& site) { return blocks_[site.block]; }
  /// A thread hit the block's probe.
  void count(Block& block, core::TimePoint now);
  /// A thread that is not counted hit it, which costs the target as much.
  void note_uncounted_execution(Block& block, core::TimePoint now);
  /// Takes the last hit back: the thread has not executed the probe's instruction after all.
  void take_back_hit(Block& block) { block.take_back_hit(); }
  void take_back_hit(std::uint32_t block) { blocks_[block].take_back_hit(); }
  void count_unlocked(core::Address at, core::TimePoint now) { blocks_.count_unlocked(at, now); }
  [[nodiscard]] EdgeCounts& edges() { return edges_; }

  /// Removes the probes of the blocks executed most since the last call, so that at most `keep`
  /// (0..1) of those executions would have hit the others. Returns the number of blocks.
  std::size_t remove_hottest(double keep, core::TimePoint now);
  /// Removes the probes of blocks with more than `share` of all executions, if these are more than
  /// `from`.
  std::size_t remove_above(double share, std::uint64_t from, core::TimePoint now);

  /// Removes the probes of the chosen blocks and ends their counts.
  void remove_probes(std::span<const std::uint32_t> chosen, core::TimePoint now);
  [[nodiscard]] const ProbedBlocks& blocks() const { return blocks_.all(); }
  [[nodiscard]] const ProbedBlock* block_starting_at(core::Address start) const {
    return blocks_.starting_at(start);
  }

  /// What was discovered and counted since the last call; see collect_copies().
  [[nodiscard]] core::CodeProbed take(bool is_still = false);

  [[nodiscard]] std::uint64_t executions() const { return executions_; }
  /// Since the last call.
  [[nodiscard]] CopyUse take_copy_use() { return std::exchange(copy_use_, {}); }
  [[nodiscard]] std::vector<FunctionCopies::FunctionUse> take_copy_uses() {
    return copies_.take_uses();
  }
  /// How often threads came to gates.
  [[nodiscard]] std::uint64_t& gate_hits() { return gate_hits_; }
  void end_trace_of(ProbedFunction& function, core::TimePoint now);
  [[nodiscard]] std::uint64_t functions_instrumented() const { return functions_instrumented_; }
  [[nodiscard]] std::uint64_t probes() const { return probes_; }
  [[nodiscard]] std::uint64_t derived() const { return propagation_.derived(); }

 private:
  [[nodiscard]] core::Address choose_probe_of(const ProbedFunction& function,
                                              const core::BasicBlock& block);
  /// Unless it is a block's probe.
  void remove_entry_breakpoint(const ProbedFunction& function);
  [[nodiscard]] bool becomes_due(const Block& block, core::TimePoint now) {
    return hot_functions_.make_due(functions_[block.function], now);
  }
  [[nodiscard]] std::set<std::uint32_t> with_uncountable(std::span<const std::uint32_t> chosen);
  void instrument_parts(std::uint32_t number);
  void propagate_counts() { propagation_.propagate(edges_.take(), blocks_.all()); }

  CodeAnalysis& analysis_;
  RunCoverage* coverage_ = nullptr;
  std::vector<core::CoverableFunction<core::Address>> untold_functions_;
  std::map<core::Address, CoveredFile*> covered_files_;  // by their modules' begins
  std::set<core::Address> modules_with_parts_;
  std::uint64_t news_seen_ = 0;
  std::optional<TraceState> trace_;
  FunctionIndex functions_;
  BlockTable blocks_;
  HotBlocks hot_;
  EdgeCounts edges_;
  CountPropagation propagation_;
  HotFunctions hot_functions_;
  FunctionCopies copies_;
  std::shared_ptr<CopySpace> copy_space_;
  std::shared_ptr<CopySpace> inherited_;  // a forked child's: still mapped, and not used
  CodePatches patches_;
  std::set<core::Address> interrupted_;
  std::set<core::Address> modules_with_stubs_;
  core::TimePoint forked_;  // as a copy of its parent's memory; zero: it was not
  bool is_to_be_left_ = false;
  std::shared_ptr<core::Duration> beside_ = std::make_shared<core::Duration>();
  bool has_unknown_frames_ = false;
  bool derives_ = false;
  core::Address loader_;
  core::ProbeFunctions postponed_;
  std::uint64_t executions_ = 0;
  CopyUse copy_use_;
  std::uint64_t gate_hits_ = 0;
  std::uint64_t functions_instrumented_ = 0;
  std::uint64_t probes_ = 0;
};

}  // namespace sp::supervisor
