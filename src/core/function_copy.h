#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/address.h"
#include "core/control_flow_graph.h"
#include "core/copy_place.h"

namespace sp::core {

/// How many counters a copy of the function may need. `counts_tables`: it has CopiedTables.
[[nodiscard]] std::uint32_t most_counters(const ControlFlowGraph& graph, bool counts_tables);

/// A function that is to be copied, and what is known of the ways into it.
struct FunctionToCopy {
  AddressRange bounds;
  std::span<const std::byte> code;  // the original bytes of `bounds`
  /// Bytes from the end of `bounds` on that belong to no function and that no jump leads to.
  std::span<const std::byte> behind{};
  const ControlFlowGraph* graph = nullptr;
  /// Where control comes in from outside of the copy: the entry, landing pads, destinations of
  /// other functions' jumps and of pointers to code. Return sites and destinations of jump tables
  /// need not be named.
  std::vector<Address> entries;
  /// Control comes to no address within `bounds` but those, return sites and the leaders in
  /// `graph`. If false, no byte may be changed at which an instruction may begin, except a leader's
  /// first.
  bool is_complete = false;
  /// Instructions may begin within jumps, if control never comes to them (is_complete). False if it
  /// may: a handler returns to where its signal came.
  bool jumps_within = true;
  /// Bytes that nobody executes (padding between functions), which may hold second jumps. Ranges
  /// given to two functions must not overlap: each may use all of its own.
  std::vector<AddressRange> dead;
  /// The copy may have tables of its own in the place of those of `graph`: what these are read from
  /// does not change.
  bool copies_tables = false;
  /// The first bytes of code outside of `bounds` that those lead to.
  std::map<Address, std::vector<std::byte>> outside{};
  /// A register may be spilled below the red zone to count; not in Go code (nosplit chains).
  bool allow_spill = true;
  /// Calls lead to the first instruction. If only jumps do, which leave flags as they are, it may
  /// read them: it begins a part of another function.
  bool is_called = true;
  /// Callers read the flags that it leaves.
  bool returns_flags = false;
  /// Instructions in front of which the copy writes an event; one of a block at most, sorted.
  struct Place {
    Address at;
    std::uint32_t number = 0;
    bool has_argument = false;  // EventRing::kWord is the first one, in its register
  };
  std::vector<Place> places{};
};

/// Why a function is not copied.
enum class CopyRefusal : std::uint8_t {
  not_on_this_cpu,
  not_mapped,           // code of it is not known or does not decode
  unmovable,            // an instruction has no equivalent elsewhere
  out_of_reach,         // of the 2 GiB that displacements span
  flags_across_calls,   // code reads flags that a call or the caller has set
  no_scratch_register,  // nowhere to count without changing what the program can see
  uses_counter_segment,
  restartable_sequence,  // the kernel compares pc with its range
  too_large,
  open_function,  // control may come to any instruction, and breakpoints there would cost too much
  no_room,        // in the region
  no_counter,     // all counters are in use
  no_events,      // --trace: what happens in it only breakpoints can tell
};
inline constexpr std::size_t kCopyRefusals = 13;
[[nodiscard]] std::string_view to_string(CopyRefusal refusal);

/// How control comes from the original code to the copy: bytes at a leader of the original.
struct CopyLanding {
  enum class Form : std::uint8_t {
    jump,        // a jump to the copy, or to `via`
    breakpoint,  // the tracer moves the thread; also leaders that control reaches only within the
                 // copy, should a thread come to the original all the same
    none,        // a thread there runs on: core::BasicBlock::is_unlocked, or is_cut
  };
  Address at;
  /// Bytes of the leader in front of it, which is an instruction that indirect jumps have to lead
  /// to (AArch64: bti and its like). Control runs through it to the jump.
  std::uint8_t pad = 0;
  Form form = Form::breakpoint;
  Address copy;           // of the leader's block, in front of its counter
  std::uint8_t size = 0;  // changed bytes of the original, for jumps
  std::array<std::byte, 8> bytes{};
  /// A second jump, in dead bytes, that a short one leads to; size 0 if there is none.
  Address via;
  std::uint8_t via_size = 0;
  std::array<std::byte, 8> via_bytes{};

  [[nodiscard]] Address leader() const { return Address{at.value() - pad}; }
};

/// What a thread that stopped within a sequence of the copy's own has to get back before it can
/// stand in the original.
struct CopyUndo {
  static constexpr std::uint8_t kNone = 0xFF;
  static constexpr std::int16_t kNoFlags = 0x7FFF;
  /// A general register that is to be loaded from memory at sp + `from`.
  struct Reload {
    std::uint8_t number = kNone;
    std::int16_t from = 0;
    bool operator==(const Reload&) const = default;
  };

  std::int16_t sp_shift = 0;  // to be added to sp, after the reloads
  std::array<Reload, 3> reloads{};
  std::int16_t flags_from = kNoFlags;  // likewise: as arch::Native::restore_flags() takes them
  /// A general register that is to hold the address where the thread goes on in the original.
  std::uint8_t address_in = kNone;
  /// A general register with an entry of a table of the copy's own: it is to hold the original's.
  std::uint8_t entry_in = kNone;
  /// A general register that is 0 if the count has been made that is under way there: the result of
  /// a store-exclusive.
  std::uint8_t counted_if_zero = kNone;

  bool operator==(const CopyUndo&) const = default;
};

/// A jump by a table: the copy has a table of its own, of addresses in the copy, and counts each
/// entry.
struct CopiedTable {
  std::uint32_t block = 0;    // in FunctionCopy::blocks, which ends with the jump
  std::uint8_t index = 0;     // the general register that has the entry's number
  std::uint64_t counter = 0;  // as CopiedBlock::counter: the first entry's, then the others'
  BranchTable::Destinations destinations;
};

/// What a thread whose pc is at an instruction of the copy does next, in terms of the original.
struct CopyPoint {
  Address original;
  std::uint32_t block = 0;  // in FunctionCopy::blocks, the one that `original` is in or starts
  /// The copy has counted this execution of the block.
  bool is_counted = false;
  CopyUndo undo;
  /// Control comes from the branch in front of `original`, whose counter (CopiedBranch::counter)
  /// this is: it has not counted that yet. 0: nothing of the kind.
  std::uint64_t uncounted_branch = 0;
  /// The way on from the block, of which the instruction at `original` reads a table, is counted
  /// there already.
  const CopiedTable* counted_by = nullptr;
  /// The transfer at `original`, which is still to be executed, is in the TransferTable already, or
  /// its event is in the EventRing.
  bool is_transferred = false;
  /// In the middle of work on the TransferTable, whose entries must stay where they are.
  bool is_in_table = false;
};

struct CopiedBlock {
  Address start;
  std::uint32_t size = 0;     // bytes of the original
  Address copy;               // where its copy starts, in front of its counter
  std::uint64_t counter = 0;  // CopyPlace::counters + 8 * its index
  /// It ends with a call for which the landings leave no room in the original: the copy makes it,
  /// with the original's return address. The CPU predicts its return wrongly.
  bool emulates_call = false;
  /// BasicBlock's: a thread at its start in the original has been counted, for nobody will know.
  bool is_unlocked = false;
  /// Its last instruction is counted in the TransferTable, under the number site().
  bool counts_transfer = false;
  bool saves_flags = false;  // for that, which takes longer
  /// From outside of the function control comes to it by no way, and by tables within the copy.
  bool is_dispatched = false;
  /// The copy writes an event in front of that instruction of the block, as of the place with that
  /// number; 0: of none.
  Address event_at{};
  std::uint32_t event_place = 0;
  std::uint8_t pad = 0;  // CopyLanding's

  [[nodiscard]] std::uint32_t site() const { return static_cast<std::uint32_t>(counter); }
  /// Whether an execution of it that stands there in the original is to be counted still.
  [[nodiscard]] bool is_ahead_at(Address original_pc) const {
    return (original_pc == start || original_pc == start + pad) && !is_unlocked;
  }
};

/// The two ways on from a block that ends with a conditional branch. One is counted; how often the
/// other was taken is what is left of the block's executions.
struct CopiedBranch {
  enum class Counted : std::uint8_t {
    next,            // the way to the next instruction, by a counter of its own
    next_by_block,   // by the counter of the block there, to which nothing else in the copy leads,
    taken_by_block,  // the way to the destination, likewise
  };
  std::uint32_t block = 0;  // in FunctionCopy::blocks
  Counted counted = Counted::next;
  Address taken;
  Address next;
  std::uint64_t counter = 0;  // as CopiedBlock::counter
};

/// A place in a loop of the copy at which a jump to the original may be written while threads run,
/// so that they leave the copy: `room` bytes of one instruction that are never jumped into the
/// middle of, in front of the block's counter. Every loop of the copy has one. Its first two bytes
/// are in one cache line, so that threads can be held there without a breakpoint.
struct CopyExit {
  Address at;
  Address original;
  std::uint8_t room = 0;
  std::uint8_t size = 0;  // of the jump
  std::array<std::byte, 8> bytes{};
};

/// An instrumented copy of a function. Calls and system calls stay in the original: the copy jumps
/// to them, and control comes back by the landing behind them; or see CopiedBlock::emulates_call.
/// So every return address is the original's.
class FunctionCopy {
 public:
  AddressRange original;
  Address at;
  std::vector<std::byte> code;
  std::uint64_t data = 0;              // bytes at its end that are tables
  std::vector<CopiedBlock> blocks;     // sorted by start
  std::vector<CopyLanding> landings;   // sorted by address, one for each block
  std::vector<CopiedBranch> branches;  // by block; not those that nothing counts
  std::vector<CopyExit> exits;
  std::vector<CopiedTable> tables;  // by block; only those that are counted
  std::uint32_t counters = 0;       // in a row, from the first block's on
  /// Instructions of the original that control comes to out of the copy: calls, system calls.
  std::vector<Address> kept;
  /// FunctionToCopy's. If false, control may also come to instructions of the original that have no
  /// landing; it runs on there, uncounted, up to the next landing.
  bool is_complete = false;

  [[nodiscard]] AddressRange range() const { return {at, at + code.size()}; }
  /// The copy jumps to the instruction there, in the original.
  [[nodiscard]] bool is_kept(Address original_pc) const {
    return std::find(kept.begin(), kept.end(), original_pc) != kept.end();
  }
  /// The number of the block that holds an address of the original.
  [[nodiscard]] std::optional<std::uint32_t> block_of(Address original_pc) const;
  /// The landings whose jumps change the original between `pc` and where control next leaves the
  /// straight-line code there, or comes to a landing. A thread that is to go on at `pc` in the
  /// original would execute them. None if a landing begins at `pc`.
  [[nodiscard]] std::vector<const CopyLanding*> changes_from(Address pc) const;
  /// Of a stopped thread's pc in the copy. Nothing if `pc` is not at an instruction.
  [[nodiscard]] std::optional<CopyPoint> to_original(Address pc) const;
  /// Where in the copy a thread goes on whose pc is at an instruction of the original; nothing if
  /// the copy does not have it (a kept call, or no instruction). to_original() of the result says
  /// whether its block's counter is still ahead.
  [[nodiscard]] std::optional<Address> to_copy(Address original_pc) const;

  /// The map between the two: an entry for each instruction of the copy, sorted by `copy`.
  struct MapEntry {
    std::uint32_t copy : 30 = 0;         // offset in `code`
    std::uint32_t is_branching : 1 = 0;  // CopyPoint::uncounted_branch
    std::uint32_t original : 24 = 0;     // offset from original.begin, or index in `outside`
    std::uint32_t is_outside : 1 = 0;
    std::uint32_t is_counted : 1 = 0;
    /// A thread may be put there from the original. One of each instruction that the copy has.
    std::uint32_t is_entry : 1 = 0;
    std::uint32_t undo : 6 = 0;            // index in `undos`
    std::uint32_t is_transferred : 1 = 0;  // CopyPoint's
    std::uint32_t is_in_entry : 1 = 0;     // CopyPoint::counted_by
  };
  static constexpr std::size_t kMostUndos = 64;
  static constexpr std::uint64_t kLargestOriginal = std::uint64_t{1} << 24U;
  static constexpr std::uint64_t kLargestCopy = std::uint64_t{1} << 30U;
  std::vector<MapEntry> map;
  std::vector<Address> outside;    // of the function, where jumps of the copy's own lead
  std::vector<CopyUndo> undos{1};  // [0]: nothing to undo

  [[nodiscard]] Address original_of(const MapEntry& entry) const {
    return entry.is_outside != 0 ? outside[entry.original] : original.begin + entry.original;
  }
};

}  // namespace sp::core
