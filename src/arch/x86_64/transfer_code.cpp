#include "arch/x86_64/transfer_code.h"

#include "arch/x86_64/moved_operand.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {
namespace {

using core::TransferTable;
using Label = InsertedStep::Label;

class TransferCodeMaker {
 public:
  TransferCodeMaker(const TransferTable& table, std::uint32_t site, bool saves_flags)
      : table_(table), site_(site), maker_({kRax, kRcx}, saves_flags) {}

  std::optional<InsertedCode> make(const SourceInstruction& transfer) {
    maker_.save();
    const auto load = load_destination(transfer, maker_.distance());
    if (!load) {
      return std::nullopt;
    }
    maker_.add(*load);
    maker_.add(code({0x8D, 0x88}, {TransferTable::spread(site_)}));  // lea spread(%rax), %ecx
    maker_.add(code({0x0F, 0xB7, 0xC9}));                            // movzwl %cx, %ecx
    maker_.add(code({0xC1, 0xE1, 5}));                               // shl $5, %ecx
    search();
    maker_.restore();
    InsertedCode made;
    made.ahead = maker_.take();
    maker_.begin_behind();
    go_on();
    add_entry();
    made.behind = maker_.take();
    return made;
  }

 private:
  void search() {
    maker_.add(code({0x65, 0x48, 0x3B, 0x81}, {table_.entries + TransferTable::kTarget})).label =
        Label::search;  // cmp %gs:entries(%rcx), %rax
    maker_.add_jump(jump({0x75}, 1), Label::next);
    maker_.add(code({0x65, 0x81, 0xB9}, {table_.entries + TransferTable::kSite, site_}));  // cmpl
    maker_.add_jump(jump({0x75}, 1), Label::next);
    maker_.add(code({0x65, 0x48, 0xFF, 0x81}, {table_.entries + TransferTable::kCount})).label =
        Label::count;  // incq
    maker_.set_noted(true);
  }

  /// To the next entry, if this one is another pair's.
  void go_on() {
    MovedInstruction is_free = code({0x65, 0x83, 0xB9}, {table_.entries + TransferTable::kSite});
    is_free.append({0});  // cmpl $0
    maker_.add(is_free).label = Label::next;
    maker_.add_jump(jump({0x74}, 1), Label::add);
    maker_.add(code({0x83, 0xC1, TransferTable::kEntrySize}));  // add
    maker_.add(
        code({0x81, 0xE1}, {(TransferTable::kEntries - 1) * TransferTable::kEntrySize}));  // and
    maker_.add_jump(jump({0xE9}, 4), Label::search);
  }

  /// The target before the site, which makes it an entry.
  void add_entry() {
    maker_.add(code({0x65, 0x81, 0x3C, 0x25}, {table_.used, TransferTable::kMost})).label =
        Label::add;
    maker_.add_jump(jump({0x73}, 1), Label::lost);                                         // jae
    maker_.add(code({0x65, 0xFF, 0x04, 0x25}, {table_.used}));                             // incl
    maker_.add(code({0x65, 0x48, 0x89, 0x81}, {table_.entries}));                          // mov
    maker_.add(code({0x65, 0xC7, 0x81}, {table_.entries + TransferTable::kSite, site_}));  // movl
    maker_.add_jump(jump({0xE9}, 4), Label::count);
    maker_.add(code({0x65, 0x48, 0xFF, 0x04, 0x25}, {table_.lost})).label = Label::lost;  // incq
    maker_.set_noted(true);
    maker_.add_jump(jump({0xE9}, 4), Label::restore);
  }

  const TransferTable& table_;
  std::uint32_t site_;
  InsertedCodeMaker maker_;
};

}  // namespace

std::optional<InsertedCode> count_transfer(const SourceInstruction& transfer,
                                           const TransferTable& table, std::uint32_t site,
                                           bool saves_flags) {
  return TransferCodeMaker(table, site, saves_flags).make(transfer);
}

}  // namespace sp::arch::x86_64
