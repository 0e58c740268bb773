#include "arch/x86_64/transfer_code.h"

#include <initializer_list>
#include <utility>

#include "arch/x86_64/counter_code.h"
#include "arch/x86_64/moved_operand.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {
namespace {

using core::CopyUndo;
using core::TransferTable;
using Label = TransferStep::Label;

constexpr std::int16_t kSavedWord = 8;
constexpr std::int16_t kRedZoneBytes = kRedZone;

// What is on the stack: nothing, rax, rcx on top of it, the flags on top of both.
constexpr CopyUndo kUndoSkip{kRedZoneBytes};
constexpr CopyUndo kUndoRax{kRedZoneBytes + kSavedWord, kRax, 0};
constexpr CopyUndo kUndoBoth{kRedZoneBytes + 2 * kSavedWord, kRax, kSavedWord, kRcx, 0};
constexpr CopyUndo kUndoFlags{
    kRedZoneBytes + 3 * kSavedWord, kRax, 2 * kSavedWord, kRcx, kSavedWord, 0};
/// The flags were popped, and are not in their place yet.
constexpr CopyUndo kUndoPopped{
    kRedZoneBytes + 2 * kSavedWord, kRax, kSavedWord, kRcx, 0, -kSavedWord};

MovedInstruction code(std::initializer_list<unsigned> bytes) {
  MovedInstruction made;
  made.append(bytes);
  return made;
}

/// Numbers of four bytes behind an opcode.
MovedInstruction code(std::initializer_list<unsigned> bytes,
                      std::initializer_list<std::uint64_t> numbers) {
  MovedInstruction made = code(bytes);
  for (const std::uint64_t number : numbers) {
    made.append_number(number, 4);
  }
  return made;
}

/// A jump with a displacement of one byte, or of four.
MovedInstruction jump(std::initializer_list<unsigned> opcode, std::uint8_t size) {
  MovedInstruction made = code(opcode);
  made.append_displacement(size, {});
  return made;
}

class TransferCodeMaker {
 public:
  TransferCodeMaker(const TransferTable& table, std::uint32_t site, bool saves_flags)
      : table_(table), site_(site), saves_flags_(saves_flags) {}

  std::optional<TransferCode> make(const SourceInstruction& transfer) {
    save();
    const auto load = load_destination(
        transfer, static_cast<std::uint8_t>(kRedZoneBytes + (saves_flags_ ? 3 : 2) * kSavedWord));
    if (!load) {
      return std::nullopt;
    }
    add(*load);
    add(code({0x8D, 0x88}, {TransferTable::spread(site_)}));  // lea spread(%rax), %ecx
    add(code({0x0F, 0xB7, 0xC9}));                            // movzwl %cx, %ecx
    add(code({0xC1, 0xE1, 5}));                               // shl $5, %ecx
    search();
    restore();
    TransferCode made;
    made.ahead = std::exchange(steps_, {});
    undo_ = saved();
    is_transferred_ = false;
    go_on();
    add_entry();
    made.behind = std::move(steps_);
    return made;
  }

 private:
  [[nodiscard]] CopyUndo saved() const { return saves_flags_ ? kUndoFlags : kUndoBoth; }

  TransferStep& add(const MovedInstruction& instruction) {
    steps_.push_back({instruction, undo_, is_transferred_, Label::none, Label::none});
    return steps_.back();
  }
  /// Behind the instruction something else is to be undone.
  void add(const MovedInstruction& instruction, const CopyUndo& after) {
    add(instruction);
    undo_ = after;
  }
  void add_jump(const MovedInstruction& instruction, Label to) { add(instruction).to = to; }

  void save() {
    add(skip_red_zone(), kUndoSkip);
    add(push_register(kRax), {kRedZoneBytes + kSavedWord});
    add(push_register(kRcx), kUndoBoth);
    if (saves_flags_) {
      add(code({0x9F}));              // lahf
      add(code({0x0F, 0x90, 0xC0}));  // seto %al
      add(push_register(kRax), kUndoFlags);
      add(code({0x48, 0x8B, 0x44, 0x24, 2 * kSavedWord}));  // mov 16(%rsp), %rax
    }
  }

  void search() {
    add(code({0x65, 0x48, 0x3B, 0x81}, {table_.entries + TransferTable::kTarget})).label =
        Label::search;  // cmp %gs:entries(%rcx), %rax
    add_jump(jump({0x75}, 1), Label::next);
    add(code({0x65, 0x81, 0xB9}, {table_.entries + TransferTable::kSite, site_}));  // cmpl
    add_jump(jump({0x75}, 1), Label::next);
    add(code({0x65, 0x48, 0xFF, 0x81}, {table_.entries + TransferTable::kCount})).label =
        Label::count;  // incq
    is_transferred_ = true;
  }

  void restore() {
    const std::size_t first = steps_.size();
    if (saves_flags_) {
      add(pop_register(kRax), kUndoPopped);
      add(code({0x04, 0x7F}));       // add $127, %al: sets OF if it was set
      add(code({0x9E}), kUndoBoth);  // sahf
    }
    add(pop_register(kRcx), kUndoRax);
    add(pop_register(kRax), kUndoSkip);
    add(return_to_red_zone(), {});
    steps_[first].label = Label::restore;
  }

  /// To the next entry, if this one is another pair's.
  void go_on() {
    add(code({0x65, 0x83, 0xB9}, {table_.entries + TransferTable::kSite})).label = Label::next;
    steps_.back().code.append({0});  // cmpl $0
    add_jump(jump({0x74}, 1), Label::add);
    add(code({0x83, 0xC1, TransferTable::kEntrySize}));                                    // add
    add(code({0x81, 0xE1}, {(TransferTable::kEntries - 1) * TransferTable::kEntrySize}));  // and
    add_jump(jump({0xE9}, 4), Label::search);
  }

  /// The target before the site, which makes it an entry.
  void add_entry() {
    add(code({0x65, 0x81, 0x3C, 0x25}, {table_.used, TransferTable::kMost})).label = Label::add;
    add_jump(jump({0x73}, 1), Label::lost);                                         // jae
    add(code({0x65, 0xFF, 0x04, 0x25}, {table_.used}));                             // incl
    add(code({0x65, 0x48, 0x89, 0x81}, {table_.entries}));                          // mov %rax
    add(code({0x65, 0xC7, 0x81}, {table_.entries + TransferTable::kSite, site_}));  // movl
    add_jump(jump({0xE9}, 4), Label::count);
    add(code({0x65, 0x48, 0xFF, 0x04, 0x25}, {table_.lost})).label = Label::lost;  // incq
    is_transferred_ = true;
    add_jump(jump({0xE9}, 4), Label::restore);
  }

  const TransferTable& table_;
  std::uint32_t site_;
  bool saves_flags_;
  CopyUndo undo_;
  bool is_transferred_ = false;
  std::vector<TransferStep> steps_;
};

}  // namespace

std::optional<TransferCode> count_transfer(const SourceInstruction& transfer,
                                           const TransferTable& table, std::uint32_t site,
                                           bool saves_flags) {
  return TransferCodeMaker(table, site, saves_flags).make(transfer);
}

}  // namespace sp::arch::x86_64
