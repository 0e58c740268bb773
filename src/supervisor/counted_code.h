#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/code_counts.h"
#include "core/ids.h"
#include "core/instruction.h"
#include "core/messages.h"
#include "supervisor/code_ground.h"
#include "supervisor/edge_counts.h"
#include "supervisor/guardian.h"
#include "supervisor/target_memory.h"

namespace sp::supervisor {

inline constexpr std::size_t kLongestCode = 15;  // bytes of any instruction

/// A place where control leaves a run, with a breakpoint on it.
struct Site {
  core::Instruction instruction;
  std::array<std::byte, kLongestCode> code{};  // what really stands there, and behind it
  std::uint64_t number = 0;                    // of this planting: they count up
  bool planted = false;
  PlantedBoard::Place place = PlantedBoard::kNowhere;

  /// Where it went lately, so that the common case looks nothing up: known, planted code.
  struct Way {
    core::Address to;
    EdgeCounts::Edge* edge = nullptr;
  };
  std::array<Way, 2> ways{};
  std::uint8_t oldest_way = 0;
};

/// A straight piece of code from where control once came in.
struct Run {
  std::vector<std::uint8_t> lengths;
  core::Address last;    // its last instruction so far
  core::Address behind;  // the first byte behind that
  enum class End : std::uint8_t {
    transfer,  // at an instruction that ends a block
    call,      // at a system call that nobody has come back from yet
    nowhere,   // at what is no instruction
  };
  End end = End::nowhere;
  /// Nothing may be planted in it: threads must be stepped through.
  bool stepped = false;
  bool told = false;
};

/// The code of one address space that was executed: its runs, the breakpoints at their ends, and
/// what was counted. Shared by processes that share their memory (vfork). Runs on the ptrace
/// thread.
///
/// Bytes are decoded only from where control has really come: at a system call a run ends for the
/// time being, because nobody knows whether there is code behind an exit or a sigreturn.
class CountedCode {
 public:
  /// `tid` is any thread of the process. With `plants` false every run is to be stepped.
  CountedCode(core::ProcessId owner, pid_t tid, bool plants, Guardian& guardian);
  /// A forked child's, whose memory is a copy of `parent`'s: it holds the breakpoints with a number
  /// below `certain`, and maybe some of the others.
  CountedCode(core::ProcessId owner, pid_t tid, const CountedCode& parent, std::uint64_t certain);
  ~CountedCode();
  CountedCode(const CountedCode&) = delete;
  CountedCode& operator=(const CountedCode&) = delete;

  [[nodiscard]] core::ProcessId owner() const { return owner_; }
  [[nodiscard]] bool plants() const { return plants_; }
  /// From now on every run is to be stepped. Before the first one is known.
  void plant_nothing() { plants_ = false; }

  /// The breakpoint that stands there; nullptr where none does.
  [[nodiscard]] Site* planted_at(core::Address address);
  /// One that was taken away for a moment.
  [[nodiscard]] Site* lifted_at(core::Address address);
  /// A breakpoint of ours was there when its trap was on its way.
  [[nodiscard]] bool was_planted_at(core::Address address) const;
  [[nodiscard]] std::uint64_t plantings() const { return plantings_; }

  [[nodiscard]] bool needs_maps(core::Address address) const {
    return maps_are_old_ || ground_.at(address) == Ground::none;
  }
  void maps_changed() { maps_are_old_ = true; }
  void set_maps(const std::vector<core::Mapping>& maps);
  [[nodiscard]] bool has_code_in(core::AddressRange range) const { return ground_.overlaps(range); }

  /// Control is about to come to `start`: makes the run there known and plants its end. It stays
  /// where it is until forget().
  Run& arrive(core::Address start);
  /// It is known, as it is now.
  [[nodiscard]] Run* find(core::Address start);
  /// A thread came back from a system call to `address`. True where the code that follows has
  /// to be stepped through.
  bool come_back(core::Address address);

  /// One instruction, from its original bytes.
  [[nodiscard]] std::optional<core::Instruction> decode(core::Address address);

  /// Up to kLongestCode original bytes; returns how many.
  std::size_t code_at(core::Address from, std::span<std::byte, kLongestCode> into) {
    return fetch(from, into);
  }

  [[nodiscard]] EdgeCounts& edges() { return edges_; }
  /// What was seen and counted since the last call.
  [[nodiscard]] core::CodeCounted take();

  /// Takes one breakpoint away for a moment, while no other thread can run, or puts it back.
  bool lift(Site& site);
  bool plant(Site& site);

  /// Puts every original byte back. Nothing is planted from then on.
  void restore_all();
  /// Puts the original bytes of a piece back.
  void restore(core::AddressRange range);
  /// Knows nothing of a piece any more: its memory is gone. What was counted must have been taken.
  void forget(core::AddressRange range);

  [[nodiscard]] const TargetMemory& memory() const { return memory_; }
  [[nodiscard]] core::AddressRange vdso() const { return ground_.vdso(); }

  /// What saves the process where we are killed: see rescue.h.
  struct Rescue {
    bool tried = false;
    core::Address page;  // 0: not there
    core::Address call;  // bytes of a system call
    bool handler_is_ours = false;
  };
  [[nodiscard]] Rescue& rescue() { return rescue_; }
  void tell_guardian_of_handler() { guardian_.hand_handler(space_, rescue_.page); }

 private:
  static constexpr std::uint64_t kPageSize = 4096;
  using Page = std::array<std::byte, kPageSize>;

  void extend(Run& run, core::Address start);
  /// Up to kLongestCode original bytes.
  std::size_t fetch(core::Address from, std::span<std::byte, kLongestCode> into);
  const Page* page(core::Address address);
  bool plant_at(const core::Instruction& instruction);

  void take_off_board(Site& site);

  Guardian& guardian_;
  std::uint32_t space_;  // the guardian's number of it
  core::ProcessId owner_;
  bool plants_;
  Rescue rescue_;
  TargetMemory memory_;
  CodeGround ground_;
  bool maps_are_old_ = true;
  /// Original bytes of pages that breakpoints can stand in.
  std::unordered_map<std::uint64_t, std::shared_ptr<const Page>> pages_;
  std::unordered_set<std::uint64_t> unplantable_pages_;
  std::unordered_map<core::Address, Site> sites_;
  std::unordered_map<core::Address, Run> runs_;
  std::vector<core::Address> untold_;  // starts of runs
  /// Where runs end at a system call: the address behind it, and the run's start.
  std::unordered_multimap<core::Address, core::Address> open_;
  std::unordered_set<core::Address> came_back_to_;
  EdgeCounts edges_;
  std::uint64_t plantings_ = 0;
};

}  // namespace sp::supervisor
