#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/control_flow_graph.h"
#include "core/messages.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/breakpoints/breakpoint_table.h"

namespace sp::supervisor {

/// The code of one address space that is given probes beside sampling: a breakpoint for each basic
/// block, on an instruction that is easily done in the thread's stead. A function has a breakpoint
/// on its first instruction until control comes there; then its blocks are mapped and get theirs.
/// Shared by processes that share their memory (vfork). Runs on the ptrace thread.
class ProbedCode : public PlantedCode {
 public:
  /// With `derives` blocks whose counts follow from those of others get no probe.
  ProbedCode(core::ProcessId owner, pid_t tid, CodeMaps& maps, Guardian& guardian,
             bool derives = false)
      : PlantedCode(owner, tid, true, guardian), maps_(maps), derives_(derives) {}
  /// A forked child's, as PlantedCode's; its counts begin at 0.
  ProbedCode(core::ProcessId owner, pid_t tid, const ProbedCode& parent);

  /// A block and what its probe counted.
  struct Block {
    core::Address start;
    std::uint32_t size = 0;  // bytes
    std::uint32_t instructions = 0;
    core::Instruction last;
    bool falls_through = false;
    core::Address probe;         // Address{}: none of its instructions could have one
    std::uint32_t function = 0;  // of ours
    std::uint64_t hits = 0;
    std::uint64_t told = 0;    // of them
    std::uint64_t passes = 0;  // hits, and those of threads that are not counted
    std::uint64_t heat = 0;    // passes since the last look at what is hot
    bool is_untold = false;    // something else about it
    bool is_derived = false;   // and has no probe
    core::TimePoint first_hit;
    core::TimePoint last_hit;
    std::optional<core::TimePoint> since;
    std::optional<core::TimePoint> until;
  };

  /// Since when a file's code is watched.
  struct Since {
    std::optional<core::TimePoint> time;  // nothing: from the process's first instruction
    bool is_new = true;                   // false: threads may be in it
  };
  /// The functions of a mapped file get probes on their first instructions.
  void watch(const core::InstrumentationCandidates& plan, std::uint64_t bias, core::AddressRange mapped,
             Since since);
  [[nodiscard]] bool watches_anything() const { return !by_address_.empty(); }
  /// The loader comes to `address` when it has mapped a file or is about to unmap one.
  void watch_loader(core::Address address);
  [[nodiscard]] bool watches_loader() const { return loader_ != core::Address{}; }
  /// `address` is in that short function of the loader's.
  [[nodiscard]] bool is_loaders(core::Address address) const {
    constexpr std::uint64_t kLongest = 8;
    return watches_loader() && address >= loader_ && address - loader_ < kLongest;
  }
  [[nodiscard]] bool watches(core::AddressRange mapped) const;
  /// Its memory is gone.
  void unwatch(core::AddressRange mapped);
  /// Mappings that were watched and are not among these any more.
  [[nodiscard]] std::vector<core::AddressRange> gone(const std::vector<core::Mapping>& maps) const;

  /// Control is about to come to `address`, or has come there without being seen (`unseen`). True
  /// where there are blocks to be mapped first: see map().
  [[nodiscard]] bool needs_map(core::Address address) const;
  /// Where to begin to map, for `address`, at which a thread was, to be in a block. Nothing where
  /// it is in one, or in no function.
  [[nodiscard]] std::optional<core::Address> unmapped_at(core::Address address) const;
  /// Maps the function that holds `address` and gives its blocks probes. Every execution is
  /// counted from then on; what is new may have been executed before `unseen`.
  void map(core::Address address, std::optional<core::TimePoint> unseen);
  /// Every function that is not mapped yet is left alone until map() or await().
  void leave_unmapped();
  /// The function's probe on its first instruction is put back, as after watch().
  void await(core::Address address, core::TimePoint now);
  [[nodiscard]] bool is_in_function(core::Address address) const;
  /// A function with an indirect jump of which is not known where it may go, or not mapped, that
  /// was not explored often yet.
  [[nodiscard]] bool is_to_be_explored(core::Address address) const;
  void note_exploration(core::Address address);
  /// What was asked for at a time when there was nothing to spend.
  [[nodiscard]] core::ProbeFunctions& postponed() { return postponed_; }

  [[nodiscard]] Block& block_of(const Site& site) { return blocks_[site.block]; }
  /// Its probe was hit.
  void count(Block& block, core::TimePoint now);
  /// By a thread that is not counted, which costs the target as much.
  void pass(Block& block);
  /// The last count was none: its instruction is still to be done.
  void uncount(Block& block);
  [[nodiscard]] EdgeCounts& edges() { return edges_; }

  /// Takes away the probes of the blocks that were passed most since the last call, so that at
  /// most `keep` (0..1) of those passes would have come from the others. Returns how many.
  std::size_t remove_hottest(double keep, core::TimePoint now);
  /// Takes away the probes of blocks with more than this share of all passes, where these are
  /// more than `from`.
  std::size_t remove_above(double share, std::uint64_t from, core::TimePoint now);

  /// What was seen and counted since the last call.
  [[nodiscard]] core::CodeProbed take();

  [[nodiscard]] std::uint64_t passes() const { return passes_; }
  [[nodiscard]] std::uint64_t functions_mapped() const { return functions_mapped_; }
  [[nodiscard]] std::uint64_t probes() const { return probes_; }
  [[nodiscard]] std::uint64_t derived() const { return derived_; }

 private:
  struct Derived {
    std::uint32_t block = 0;
    std::vector<std::uint32_t> from;  // as DerivableBlock's
    std::vector<std::uint32_t> before;
    std::uint64_t seen = 0;  // hits of those before it that it has
  };
  struct Function {
    std::uint32_t number = 0;
    core::AddressRange bounds;
    std::vector<core::Address> leaders;  // beside the blocks' starts: landing pads
    enum class State : std::uint8_t {
      awaited,  // a breakpoint on its first instruction
      mapped,
      left,  // nothing
    };
    State state = State::awaited;
    std::vector<core::Address> unresolved;
    std::vector<std::uint32_t> blocks;
    std::vector<Derived> derived;
    Since since;
    std::uint32_t explorations = 0;
  };

  /// The first of by_address_ that begins behind it.
  [[nodiscard]] std::vector<std::uint32_t>::const_iterator first_behind(
      core::Address address) const;
  [[nodiscard]] const Function* function_at(core::Address address) const;
  [[nodiscard]] Function* function_at(core::Address address);
  void adopt(Function& function, const core::ControlFlowGraph& map,
             std::optional<core::TimePoint> since);
  void update(Block& block, const core::BasicBlock& mapped);
  [[nodiscard]] core::Address choose_probe(const core::BasicBlock& mapped);
  void give_probes(Function& function);
  void take_entry_away(Function& function);
  /// Finds out which of the function's blocks get no probe.
  void derive(Function& function);
  /// Gives derived blocks what was counted since the last call.
  void settle();
  struct Sum;
  void add_fallen_through(Derived& derived, Sum& sum) const;
  void end_derived(Function& function, core::TimePoint now);
  void remove(std::span<const std::uint32_t> numbers, core::TimePoint now);

  CodeMaps& maps_;
  struct Watched {
    core::AddressRange mapped;
    bool is_whole = false;
    Since since;
  };
  [[nodiscard]] const Watched* whole_at(core::Address address) const;
  Function& add_function(core::Address begin, const Watched& watched);

  core::ProbeFunctions postponed_;
  std::vector<Watched> watched_;
  std::deque<Function> functions_;
  std::vector<std::uint32_t> by_address_;  // those that are watched
  std::deque<Block> blocks_;
  std::unordered_map<core::Address, std::uint32_t> block_at_;
  std::vector<std::uint32_t> hot_;  // with heat
  EdgeCounts edges_;
  std::vector<EdgeCounts::Edge> settled_;  // and not taken yet
  std::vector<std::uint32_t> deriving_;    // functions with derived blocks
  bool derives_ = false;
  std::uint64_t passes_ = 0;
  std::uint64_t functions_mapped_ = 0;
  std::uint64_t probes_ = 0;
  std::uint64_t derived_ = 0;
  core::Address loader_;
};

}  // namespace sp::supervisor
