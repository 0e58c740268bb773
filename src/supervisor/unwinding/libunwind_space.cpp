#include "supervisor/unwinding/libunwind_space.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/check.h"
#include "supervisor/unwinding/canonical_cfi.h"

// Exported by libunwind for debuggers, but in none of its headers.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* info, unw_proc_info_t* found,
                                                  int need_unwind_info, void* argument);

namespace sp::supervisor {
namespace {

// No user address has the top bit, so the windows and the stack never meet.
//   bit 63: ours; bits 36-62: module + 1; bits 0-35: offset in the module
constexpr std::uint64_t kOurs = 1ULL << 63U;
constexpr unsigned kWindowBits = 36;
constexpr std::uint64_t kOffsetInWindow = (1ULL << kWindowBits) - 1;
constexpr std::uint64_t kMostModules = (1ULL << (63U - kWindowBits)) - 2;
// Window 0 holds what libunwind reads of ours: a search table of one entry, then CIEs and FDEs.
constexpr std::uint64_t kTable = kOurs;

/// libunwind's callbacks; `argument` is the LibunwindSpace.
struct Callbacks {
  static LibunwindSpace& of(void* argument) { return *static_cast<LibunwindSpace*>(argument); }

  static int find_proc_info(unw_addr_space_t /*space*/, unw_word_t ip, unw_proc_info_t* found,
                            int /*need_unwind_info*/, void* argument) {
    return of(argument).find_proc_info(ip, found);
  }
  static void put_unwind_info(unw_addr_space_t /*space*/, unw_proc_info_t* /*found*/,
                              void* /*argument*/) {}
  static int get_dyn_info_list_addr(unw_addr_space_t /*space*/, unw_word_t* /*address*/,
                                    void* /*argument*/) {
    return -UNW_ENOINFO;
  }
  static int access_mem(unw_addr_space_t /*space*/, unw_word_t address, unw_word_t* value,
                        int write, void* argument) {
    return write != 0 ? -UNW_EINVAL : of(argument).read_memory(address, value);
  }
  static int access_reg(unw_addr_space_t /*space*/, unw_regnum_t number, unw_word_t* value,
                        int write, void* argument) {
    return write != 0 ? -UNW_EREADONLYREG : of(argument).read_register(number, value);
  }
  static int access_fpreg(unw_addr_space_t /*space*/, unw_regnum_t /*number*/,
                          unw_fpreg_t* /*value*/, int /*write*/, void* /*argument*/) {
    return -UNW_EBADREG;
  }
  static int resume(unw_addr_space_t /*space*/, unw_cursor_t* /*cursor*/, void* /*argument*/) {
    return -UNW_EINVAL;
  }
  static int get_proc_name(unw_addr_space_t /*space*/, unw_word_t /*address*/, char* /*name*/,
                           std::size_t /*size*/, unw_word_t* /*offset*/, void* /*argument*/) {
    return -UNW_ENOINFO;
  }
};

struct TableEntry {
  std::int32_t begin;
  std::int32_t fde;
};

/// Picks the row of one address out of a function's, which libunwind computes one after another.
struct RowSearch {
  unw_word_t address;
  LibunwindSpace* space;
  std::vector<std::uint64_t>* state;

  static int visit(void* token, void* state, std::size_t size, unw_word_t begin, unw_word_t end) {
    auto& search = *static_cast<RowSearch*>(token);
    if (search.address < begin || search.address >= end) {
      return 0;
    }
    search.state = search.space->keep(state, size);
    return -UNW_ESTOPUNWIND;
  }
};

}  // namespace

LibunwindSpace::LibunwindSpace() {
  unw_accessors_t accessors{};
  accessors.find_proc_info = Callbacks::find_proc_info;
  accessors.put_unwind_info = Callbacks::put_unwind_info;
  accessors.get_dyn_info_list_addr = Callbacks::get_dyn_info_list_addr;
  accessors.access_mem = Callbacks::access_mem;
  accessors.access_reg = Callbacks::access_reg;
  accessors.access_fpreg = Callbacks::access_fpreg;
  accessors.resume = Callbacks::resume;
  accessors.get_proc_name = Callbacks::get_proc_name;
  space_ = unw_create_addr_space(&accessors, 0);
  SP_CHECK(space_ != nullptr);
  unw_set_caching_policy(space_, UNW_CACHE_NONE);
  // The one entry is below every address and leads to the segment base itself.
  const TableEntry entry{std::numeric_limits<std::int32_t>::min(), 0};
  arena_.resize(sizeof(entry));
  std::memcpy(arena_.data(), &entry, sizeof(entry));
}

LibunwindSpace::~LibunwindSpace() { unw_destroy_addr_space(space_); }

bool LibunwindSpace::start(const FrameRegisters& registers, const StackMemory& memory) {
  registers_ = registers;
  memory_ = &memory;
  return unw_init_remote(&cursor_, space_, this) == 0;
}

const CfiRow& LibunwindSpace::row_of(CodeModule& module, std::uint64_t elf_address) {
  static constexpr CfiRow kNone{CfiOutcome::no_cfi, false, nullptr};
  const auto index = static_cast<std::uint64_t>(module.id) + 1;
  const std::uint64_t offset = elf_address - module.lowest;
  if (module.frames == nullptr || index > kMostModules || offset > kOffsetInWindow) {
    return kNone;
  }
  const std::uint64_t window = kOurs | index << kWindowBits;
  const auto [place, is_new] = rows_.try_emplace(window + offset);
  if (is_new) {
    place->second = compute_row(module, elf_address, window - module.lowest);
  }
  return place->second;
}

CfiRow LibunwindSpace::compute_row(CodeModule& module, std::uint64_t elf_address,
                                   std::uint64_t shift) {
  const auto fde = module.frames->find(elf_address);
  if (!fde) {
    return {CfiOutcome::no_cfi, false, nullptr};
  }
  fde_ = lay_out(*fde, shift, module.image->machine() == EM_AARCH64);
  if (fde_ == 0) {
    return {CfiOutcome::unusable_cfi, fde->signal_frame, nullptr};
  }
  // A cursor of its own, which stands at the address and is never stepped.
  const FrameRegisters kept = registers_;
  registers_.pc = core::Address{elf_address + shift};
  unw_cursor_t at_address{};
  RowSearch search{elf_address + shift, this, nullptr};
  if (unw_init_remote(&at_address, space_, this) == 0) {
    unw_reg_states_iterate(&at_address, RowSearch::visit, &search);
  }
  registers_ = kept;
  const auto outcome = search.state != nullptr ? CfiOutcome::stepped : CfiOutcome::unusable_cfi;
  return {outcome, fde->signal_frame, search.state};
}

std::vector<std::uint64_t>* LibunwindSpace::keep(const void* state, std::size_t size) {
  std::vector<std::uint64_t> words((size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(words.data(), state, size);
  auto& kept = states_[words];
  if (kept == nullptr) {
    kept = std::make_unique<std::vector<std::uint64_t>>(std::move(words));
  }
  return kept.get();
}

/// Where in window 0 the canonical form of an FDE begins; 0 if libunwind cannot evaluate it.
std::uint64_t LibunwindSpace::lay_out(const Fde& fde, std::uint64_t shift,
                                      bool drop_signing_marks) {
  const auto [place, is_new] = laid_out_.try_emplace(fde.begin + shift, 0);
  if (!is_new) {
    return place->second;
  }
  if (const auto cfi = make_canonical_cfi(fde, shift, drop_signing_marks)) {
    arena_.resize((arena_.size() + 7) / 8 * 8);
    place->second = kOurs + arena_.size() + cfi->fde_offset;
    arena_.insert(arena_.end(), cfi->bytes.begin(), cfi->bytes.end());
  }
  return place->second;
}

int LibunwindSpace::find_proc_info(unw_word_t ip, unw_proc_info_t* found) {
  unw_dyn_info_t info{};
  info.start_ip = ip;
  info.end_ip = ip + 1;
  info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  info.u.rti.segbase = fde_;
  info.u.rti.table_data = kTable;
  info.u.rti.table_len = sizeof(TableEntry) / sizeof(unw_word_t);
  return UNW_OBJ(dwarf_search_unwind_table)(space_, ip, &info, found, 1, this);
}

int LibunwindSpace::read_memory(unw_word_t address, unw_word_t* value) {
  if (address < kOurs) {
    const auto word = memory_->word(core::Address{address});
    if (!word) {
      missing_ = core::Address{address};
      return -UNW_EINVAL;
    }
    *value = *word;
    return 0;
  }
  const std::uint64_t at = address - kOurs;
  if (at >= arena_.size()) {
    return -UNW_EINVAL;
  }
  *value = 0;
  std::memcpy(value, arena_.data() + at, std::min(sizeof(*value), arena_.size() - at));
  return 0;
}

int LibunwindSpace::read_register(unw_regnum_t number, unw_word_t* value) const {
  if (number == static_cast<unw_regnum_t>(NativeFrames::kPc)) {
    *value = registers_.pc.value();
    return 0;
  }
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index >= registers_.values.size() || !registers_.known.test(index)) {
    return -UNW_EBADREG;
  }
  *value = registers_.values[index];
  return 0;
}

}  // namespace sp::supervisor
