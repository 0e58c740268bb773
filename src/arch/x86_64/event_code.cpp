#include "arch/x86_64/event_code.h"

#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

using core::EventRing;
using Label = InsertedStep::Label;

namespace {

/// The ring is full. Where nobody will make room, a jump is put in place of one of the first two
/// instructions: one of them has its bytes in one cache line.
void wait_for_room(InsertedCodeMaker& maker, const EventRing& ring) {
  InsertedStep& begin = maker.add(code({0xF3, 0x90}));  // pause
  begin.label = Label::search;
  begin.exit = Label::lost;
  maker.add(code({0xF3, 0x90}));                             // pause
  maker.add(code({0x65, 0x3B, 0x0C, 0x25}, {ring.read}));    // cmp %gs:read, %ecx
  maker.add_jump(jump({0x74}, 1), Label::search);            // je
  maker.add(code({0x0F, 0x31}));                             // rdtsc
  maker.add(code({0x65, 0x8B, 0x14, 0x25}, {ring.cursor}));  // mov %gs:cursor, %edx
  const std::uint64_t entry = ring.entries;
  maker.add(code({0x65, 0x2B, 0x82}, {entry + EventRing::kTicks}));   // sub %gs:ticks(%rdx), %eax
  maker.add(code({0x65, 0x89, 0x82}, {entry + EventRing::kWaited}));  // mov
  maker.add_jump(jump({0xEB}, 1), Label::add);                        // jmp
}

}  // namespace

/// The cursor is written last: with it the event is there.
InsertedCode write_event(const EventRing& ring, const core::FunctionToCopy::Place& place,
                         bool saves_flags) {
  InsertedCodeMaker maker({kRax, kRcx, kRdx}, saves_flags);
  maker.save();
  maker.add(code({0x0F, 0x31}));                             // rdtsc
  maker.add(code({0x48, 0xC1, 0xE2, 32}));                   // shl $32, %rdx
  maker.add(code({0x48, 0x09, 0xD0}));                       // or %rdx, %rax
  maker.add(code({0x65, 0x8B, 0x0C, 0x25}, {ring.cursor}));  // mov %gs:cursor, %ecx
  const auto store = [&](std::uint64_t word) {               // mov %rax, %gs:word(%rcx)
    maker.add(code({0x65, 0x48, 0x89, 0x81}, {ring.entries + word}));
  };
  store(EventRing::kTicks);
  maker.add(code({0x48, 0x8D, 0x84, 0x24}, {maker.distance()}));  // lea distance(%rsp), %rax
  store(EventRing::kSp);
  maker.add(place.has_argument ? code({0x48, 0x89, 0xF8})    // mov %rdi, %rax
                               : code({0x48, 0x8B, 0x00}));  // mov (%rax), %rax
  store(EventRing::kWord);
  maker.add(
      code({0x65, 0x48, 0xC7, 0x81}, {ring.entries + EventRing::kPlace, place.number}));  // movq
  maker.add(code({0x83, 0xC1, EventRing::kEntrySize}));                                   // add
  maker.add(code({0x81, 0xE1}, {EventRing::kBytes - EventRing::kEntrySize}));             // and
  maker.add(code({0x65, 0x3B, 0x0C, 0x25}, {ring.read}));  // cmp %gs:read, %ecx
  maker.add_jump(jump({0x75}, 1), Label::add);             // jne
  if (ring.waits) {
    wait_for_room(maker, ring);
  }
  maker.add(code({0x65, 0x48, 0xFF, 0x04, 0x25}, {ring.lost})).label = Label::lost;  // incq
  maker.set_noted(true);
  maker.add_jump(jump({0xEB}, 1), Label::restore);  // jmp
  maker.set_noted(false);
  maker.add(code({0x65, 0x89, 0x0C, 0x25}, {ring.cursor})).label = Label::add;
  maker.set_noted(true);
  maker.restore();
  InsertedCode made;
  made.ahead = maker.take();
  return made;
}

}  // namespace sp::arch::x86_64
