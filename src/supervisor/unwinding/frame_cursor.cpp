#include "supervisor/unwinding/frame_cursor.h"

#include <elf.h>
#include <libunwind.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/check.h"
#include "supervisor/unwinding/canonical_cfi.h"

// Exported by libunwind for debuggers, but in none of its headers.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* info, unw_proc_info_t* found,
                                                  int need_unwind_info, void* argument);

namespace sp::supervisor {
namespace {

// No user address has the top bit, so the windows and the stack never meet.
//   bit 63: ours; bits 36-62: module + 1; bits 0-35: into the module
constexpr std::uint64_t kOurs = 1ULL << 63U;
constexpr unsigned kWindowBits = 36;
constexpr std::uint64_t kIntoWindow = (1ULL << kWindowBits) - 1;
constexpr std::uint64_t kMostModules = (1ULL << (63U - kWindowBits)) - 2;
// Window 0 holds what libunwind reads of ours: a search table of one entry, then descriptions.
constexpr std::uint64_t kTable = kOurs;

}  // namespace

std::optional<std::uint64_t> StackMemory::word(core::Address address) const {
  const std::uint64_t at = address.value() - raw_.bottom.value();
  if (address < raw_.bottom || at >= raw_.bytes.size() ||
      raw_.bytes.size() - at < sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, raw_.bytes.data() + at, sizeof(value));
  return value;
}

/// All that libunwind calls back to.
struct FrameCursor::Library {
  Library();
  ~Library() { unw_destroy_addr_space(space); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  struct RowSearch;
  struct Row {
    Outcome outcome = Outcome::stepped;  // or why there is no row
    bool signal_frame = false;
    std::vector<std::uint64_t>* state = nullptr;  // opaque: unw_apply_reg_state's
  };
  const Row& row_of(CodeModule& module, std::uint64_t elf_address);
  Row compute_row(CodeModule& module, std::uint64_t elf_address, std::uint64_t shift);
  std::uint64_t lay_out(const FrameDescription& found, std::uint64_t shift,
                        bool drop_signing_marks);
  std::vector<std::uint64_t>* keep(const void* state, std::size_t size);

  int find_description(unw_word_t ip, unw_proc_info_t* found);
  int read_memory(unw_word_t address, unw_word_t* value);
  int read_register(unw_regnum_t number, unw_word_t* value) const;

  unw_addr_space_t space = nullptr;
  unw_cursor_t cursor{};
  const StackMemory* memory = nullptr;
  FrameRegisters registers;  // of the frame that the cursor in use was started from
  std::optional<core::Address> missing;

  std::unordered_map<std::uint64_t, Row> rows;  // by address in the windows
  // Few are different, so they are shared: what libunwind computed -> itself.
  std::map<std::vector<std::uint64_t>, std::unique_ptr<std::vector<std::uint64_t>>> states;
  std::vector<std::byte> arena;                           // window 0
  std::unordered_map<std::uint64_t, std::uint64_t> laid;  // begin of code -> its FDE in window 0
  std::uint64_t description = 0;                          // the FDE that find_description gives
};

namespace {

/// The callbacks of one address space, which know their Library by `argument`.
template <typename Library>
struct Callbacks {
  static Library& of(void* argument) { return *static_cast<Library*>(argument); }

  static int find_proc_info(unw_addr_space_t /*space*/, unw_word_t ip, unw_proc_info_t* found,
                            int /*need_unwind_info*/, void* argument) {
    return of(argument).find_description(ip, found);
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
  std::int32_t description;
};

}  // namespace

/// Picks the row of one address out of a function's, which libunwind computes one after another.
struct FrameCursor::Library::RowSearch {
  unw_word_t address;
  Library* library;
  std::vector<std::uint64_t>* state;

  static int look_at(void* token, void* state, std::size_t size, unw_word_t begin, unw_word_t end) {
    auto& search = *static_cast<RowSearch*>(token);
    if (search.address < begin || search.address >= end) {
      return 0;
    }
    search.state = search.library->keep(state, size);
    return -UNW_ESTOPUNWIND;
  }
};

FrameCursor::Library::Library() {
  using Calls = Callbacks<Library>;
  unw_accessors_t accessors{};
  accessors.find_proc_info = Calls::find_proc_info;
  accessors.put_unwind_info = Calls::put_unwind_info;
  accessors.get_dyn_info_list_addr = Calls::get_dyn_info_list_addr;
  accessors.access_mem = Calls::access_mem;
  accessors.access_reg = Calls::access_reg;
  accessors.access_fpreg = Calls::access_fpreg;
  accessors.resume = Calls::resume;
  accessors.get_proc_name = Calls::get_proc_name;
  space = unw_create_addr_space(&accessors, 0);
  SP_CHECK(space != nullptr);
  unw_set_caching_policy(space, UNW_CACHE_NONE);
  // The one entry is below every address and leads to the segment base itself.
  const TableEntry entry{std::numeric_limits<std::int32_t>::min(), 0};
  arena.resize(sizeof(entry));
  std::memcpy(arena.data(), &entry, sizeof(entry));
}

const FrameCursor::Library::Row& FrameCursor::Library::row_of(CodeModule& module,
                                                              std::uint64_t elf_address) {
  static constexpr Row kNone{Outcome::no_description, false, nullptr};
  const auto index = static_cast<std::uint64_t>(module.id) + 1;
  const std::uint64_t into = elf_address - module.lowest;
  if (module.frames == nullptr || index > kMostModules || into > kIntoWindow) {
    return kNone;
  }
  const std::uint64_t window = kOurs | index << kWindowBits;
  const auto [place, is_new] = rows.try_emplace(window + into);
  if (is_new) {
    place->second = compute_row(module, elf_address, window - module.lowest);
  }
  return place->second;
}

FrameCursor::Library::Row FrameCursor::Library::compute_row(CodeModule& module,
                                                            std::uint64_t elf_address,
                                                            std::uint64_t shift) {
  const auto found = module.frames->find(elf_address);
  if (!found) {
    return {Outcome::no_description, false, nullptr};
  }
  description = lay_out(*found, shift, module.image->machine() == EM_AARCH64);
  if (description == 0) {
    return {Outcome::not_followed, found->signal_frame, nullptr};
  }
  // A cursor of its own, which stands at the address and is never stepped.
  const FrameRegisters kept = registers;
  registers.pc = core::Address{elf_address + shift};
  unw_cursor_t at_address{};
  RowSearch search{elf_address + shift, this, nullptr};
  if (unw_init_remote(&at_address, space, this) == 0) {
    unw_reg_states_iterate(&at_address, RowSearch::look_at, &search);
  }
  registers = kept;
  const auto outcome = search.state != nullptr ? Outcome::stepped : Outcome::not_followed;
  return {outcome, found->signal_frame, search.state};
}

std::vector<std::uint64_t>* FrameCursor::Library::keep(const void* state, std::size_t size) {
  std::vector<std::uint64_t> words((size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(words.data(), state, size);
  auto& kept = states[words];
  if (kept == nullptr) {
    kept = std::make_unique<std::vector<std::uint64_t>>(std::move(words));
  }
  return kept.get();
}

/// Where in window 0 the normal form of an FDE begins; 0 where libunwind could not follow it.
std::uint64_t FrameCursor::Library::lay_out(const FrameDescription& found, std::uint64_t shift,
                                            bool drop_signing_marks) {
  const auto [place, is_new] = laid.try_emplace(found.begin + shift, 0);
  if (!is_new) {
    return place->second;
  }
  if (const auto form = normal_form(found, shift, drop_signing_marks)) {
    arena.resize((arena.size() + 7) / 8 * 8);
    place->second = kOurs + arena.size() + form->fde_offset;
    arena.insert(arena.end(), form->bytes.begin(), form->bytes.end());
  }
  return place->second;
}

int FrameCursor::Library::find_description(unw_word_t ip, unw_proc_info_t* found) {
  unw_dyn_info_t info{};
  info.start_ip = ip;
  info.end_ip = ip + 1;
  info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  info.u.rti.segbase = description;
  info.u.rti.table_data = kTable;
  info.u.rti.table_len = sizeof(TableEntry) / sizeof(unw_word_t);
  return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &info, found, 1, this);
}

int FrameCursor::Library::read_memory(unw_word_t address, unw_word_t* value) {
  if (address < kOurs) {
    const auto word = memory->word(core::Address{address});
    if (!word) {
      missing = core::Address{address};
      return -UNW_EINVAL;
    }
    *value = *word;
    return 0;
  }
  const std::uint64_t at = address - kOurs;
  if (at >= arena.size()) {
    return -UNW_EINVAL;
  }
  *value = 0;
  std::memcpy(value, arena.data() + at, std::min(sizeof(*value), arena.size() - at));
  return 0;
}

int FrameCursor::Library::read_register(unw_regnum_t number, unw_word_t* value) const {
  if (number == static_cast<unw_regnum_t>(NativeFrames::kPc)) {
    *value = registers.pc.value();
    return 0;
  }
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index >= registers.values.size() || !registers.known.test(index)) {
    return -UNW_EBADREG;
  }
  *value = registers.values[index];
  return 0;
}

FrameCursor::FrameCursor() : library_(std::make_unique<Library>()) {}

FrameCursor::~FrameCursor() = default;

void FrameCursor::start(const FrameRegisters& registers, const StackMemory& memory) {
  library_->registers = registers;
  library_->memory = &memory;
  pc_ = registers.pc;
  sp_ = registers.sp();
  stepped_ = false;
  SP_CHECK(unw_init_remote(&library_->cursor, library_->space, library_.get()) == 0);
}

FrameCursor::Outcome FrameCursor::step(CodeModule& module, std::uint64_t elf_address,
                                       bool is_return_address) {
  Library& library = *library_;
  const auto& row = library.row_of(module, elf_address - (is_return_address ? 1 : 0));
  if (row.outcome != Outcome::stepped) {
    return row.outcome;
  }
  library.missing.reset();
  unw_cursor_t* cursor = &library.cursor;
  const int result = unw_apply_reg_state(cursor, row.state->data());
  if (result < 0) {
    missing_ = library.missing.value_or(core::Address{});
    return library.missing ? Outcome::memory_missing : Outcome::not_followed;
  }
  was_signal_frame_ = row.signal_frame;
  unw_word_t pc = 0;
  unw_word_t sp = 0;
  if (result == 0 || unw_get_reg(cursor, UNW_REG_IP, &pc) != 0 ||
      unw_get_reg(cursor, UNW_REG_SP, &sp) != 0) {
    return Outcome::root;
  }
  pc_ = core::Address{pc};
  sp_ = core::Address{sp};
  stepped_ = true;
  return Outcome::stepped;
}

std::optional<core::Address> FrameCursor::saved_at(unsigned dwarf_register) const {
  unw_save_loc_t place{};
  if (unw_get_save_loc(&library_->cursor, static_cast<int>(dwarf_register), &place) != 0 ||
      place.type != UNW_SLT_MEMORY) {
    return std::nullopt;
  }
  return core::Address{place.u.addr};
}

FrameRegisters FrameCursor::registers() const {
  if (!stepped_) {
    return library_->registers;  // libunwind 1.6 gives pc for x30
  }
  FrameRegisters out;
  out.pc = pc_;
  for (unsigned i = 0; i < out.values.size(); ++i) {
    unw_word_t value = 0;
    if (unw_get_reg(&library_->cursor, static_cast<unw_regnum_t>(i), &value) == 0) {
      out.set(i, value);
    }
  }
  return out;
}

}  // namespace sp::supervisor
