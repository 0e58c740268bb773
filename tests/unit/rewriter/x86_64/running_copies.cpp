#include "unit/rewriter/x86_64/running_copies.h"

#include <asm/prctl.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "arch/x86_64/breakpoint.h"
#include "arch/x86_64/registers.h"
#include "core/check.h"
#include "rewriter/copy_function.h"
#include "unit/rewriter/elf_functions.h"

/// The handler of the traps, which the test's own instructions cause, allocates memory.
extern "C" const char* __tsan_default_options() { return "report_signal_unsafe=0"; }

namespace sp::rewriter {
namespace {

using core::Address;
using core::FunctionCopy;

constexpr std::uint64_t kCounters = std::uint64_t{1} << 30U;  // from the base of gs
constexpr std::size_t kRegion = std::size_t{64} << 20U;
constexpr greg_t kTrapFlag = 0x100;
constexpr std::size_t kMostCounters = 1U << 16U;
constexpr std::size_t kTableWords =
    core::TransferTable::kEntries * core::TransferTable::kEntrySize / 8;

// What the handler of SIGTRAP knows: one set of copies, one set of stepped blocks.
std::unordered_map<std::uint64_t, std::uint64_t> breakpoints;  // to the copy
std::vector<std::uint64_t> counters;
const std::vector<FunctionCopy>* running = nullptr;  // sorted by the copy's address
std::unordered_map<std::uint64_t, std::uint64_t> stepped;
std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint64_t>> ways_taken;
std::uint64_t last_pc = 0;
unsigned leaving_period = 0;
std::uint64_t dice = 1;
std::uint64_t moves_made = 0;
std::uint64_t hits = 0;

std::uint64_t* word_at(std::uint64_t address) {
  return reinterpret_cast<std::uint64_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

const FunctionCopy* copy_at(Address pc) {
  const auto after =
      std::upper_bound(running->begin(), running->end(), pc,
                       [](Address wanted, const FunctionCopy& copy) { return wanted < copy.at; });
  if (after == running->begin() || !std::prev(after)->range().contains(pc)) {
    return nullptr;
  }
  return &*std::prev(after);
}

/// By the number in instructions.
greg_t& general_register(mcontext_t& context, unsigned number) {
  static constexpr std::array<int, 16> kOrder{REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                              REG_R12, REG_R13, REG_R14, REG_R15};
  return context.gregs[kOrder[number]];
}

/// Moves the thread from a copy to the original, as if it had never been in the copy.
void leave_copy(mcontext_t& context) {
  const Address pc{static_cast<std::uint64_t>(context.gregs[REG_RIP])};
  const FunctionCopy* copy = copy_at(pc);
  dice = dice * 6364136223846793005U + 1442695040888963407U;
  if (copy == nullptr || (dice >> 33U) % leaving_period != 0) {
    return;
  }
  const auto point = copy->to_original(pc);
  SP_CHECK(point.has_value());
  if (!copy->changes_from(point->original).empty()) {
    return;  // it would execute the bytes of jumps
  }
  bool is_leader = false;
  for (const core::CopyLanding& landing : copy->landings) {
    is_leader = is_leader || landing.at == point->original;
  }
  std::uint64_t& counter = counters[(copy->blocks[point->block].counter - kCounters) / 8];
  const bool is_in_block = copy->original.contains(point->original);
  const bool is_continuation = is_leader && copy->blocks[point->block].start != point->original;
  if (is_in_block && is_leader && !is_continuation && point->is_counted) {
    counter -= 1;  // the landing leads to counting it again
  } else if (is_in_block && !is_leader && !point->is_counted) {
    counter += 1;
  }
  if (point->undo.entry_in != core::CopyUndo::kNone) {
    greg_t& entry = general_register(context, point->undo.entry_in);
    const auto there = copy->to_original(Address{static_cast<std::uint64_t>(entry)});
    entry = there ? static_cast<greg_t>(there->original.value()) : entry;
  }
  if (const core::CopiedTable* const table = point->counted_by) {
    auto index = static_cast<std::uint64_t>(general_register(context, table->index));
    if (point->undo.entry_in != core::CopyUndo::kNone) {
      const Address to{static_cast<std::uint64_t>(general_register(context, point->undo.entry_in))};
      const auto& all = *table->destinations;
      index = static_cast<std::uint64_t>(std::find(all.begin(), all.end(), to) - all.begin());
    }
    SP_CHECK(index < table->destinations->size());
    counters[(table->counter - kCounters) / 8 + index] -= 1;
  }
  greg_t& sp = general_register(context, 4);
  const auto pushed = [sp](std::int16_t offset) {
    return static_cast<greg_t>(*word_at(static_cast<std::uint64_t>(sp + offset)));
  };
  for (const core::CopyUndo::Reload& reload : point->undo.reloads) {
    if (reload.number != core::CopyUndo::kNone) {
      general_register(context, reload.number) = pushed(reload.from);
    }
  }
  if (point->undo.flags_from != core::CopyUndo::kNoFlags) {
    arch::x86_64::Registers flags{};
    flags.eflags = static_cast<std::uint64_t>(context.gregs[REG_EFL]);
    arch::x86_64::restore_flags(flags, static_cast<std::uint64_t>(pushed(point->undo.flags_from)));
    context.gregs[REG_EFL] = static_cast<greg_t>(flags.eflags);
  }
  if (point->undo.address_in != core::CopyUndo::kNone) {
    general_register(context, point->undo.address_in) =
        static_cast<greg_t>(point->original.value());
  }
  sp += point->undo.sp_shift;
  context.gregs[REG_RIP] = static_cast<greg_t>(point->original.value());
  ++moves_made;
}

void on_trap(int /*signal*/, siginfo_t* info, void* argument) {
  mcontext_t& context = static_cast<ucontext_t*>(argument)->uc_mcontext;
  const auto pc = static_cast<std::uint64_t>(context.gregs[REG_RIP]);
  if (arch::x86_64::is_step_code(info->si_code)) {
    if (leaving_period != 0) {
      leave_copy(context);
      last_pc = pc;
      return;
    }
    if (last_pc != 0) {
      ++ways_taken[last_pc][pc];
    }
    if (pc != last_pc) {  // a repeated instruction traps each time
      if (const auto found = stepped.find(pc); found != stepped.end()) {
        found->second += 1;
      }
    }
    last_pc = pc;
    return;
  }
  const auto found = breakpoints.find(pc - 1);
  SP_CHECK(found != breakpoints.end());
  context.gregs[REG_RIP] = static_cast<greg_t>(found->second);
  ++hits;
}

void take_traps() {
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  SP_CHECK(sigaction(SIGTRAP, &action, nullptr) == 0);
}

void set_gs(std::uint64_t base) { SP_CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, base) == 0); }

[[gnu::noinline]] void set_trap_flag(bool on) {
  std::uint64_t flags = 0;
  asm volatile("lea -128(%%rsp), %%rsp; pushfq; popq %0; lea 128(%%rsp), %%rsp" : "=r"(flags));
  flags = on ? flags | kTrapFlag : flags & ~std::uint64_t{kTrapFlag};
  asm volatile("lea -128(%%rsp), %%rsp; pushq %0; popfq; lea 128(%%rsp), %%rsp"
               :
               : "r"(flags)
               : "cc");
}

core::AddressRange map_near(core::AddressRange text) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20U;
  for (std::uint64_t down = kRegion + kStep; down < (std::uint64_t{1} << 30U); down += kStep) {
    const std::uint64_t at = (text.begin.value() - down) & ~(kStep - 1);
    void* mapped = mmap(word_at(at), kRegion, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) {
      return {Address{at}, Address{at + kRegion}};
    }
  }
  SP_CHECK(false);
}

void write_landing(const core::CopyLanding& landing) {
  if (landing.form == core::CopyLanding::Form::breakpoint) {
    *reinterpret_cast<unsigned char*>(word_at(landing.at.value())) = 0xCC;
    breakpoints[landing.at.value()] = landing.copy.value();
    return;
  }
  std::memcpy(word_at(landing.at.value()), landing.bytes.data(), landing.size);
  if (landing.via_size != 0) {
    std::memcpy(word_at(landing.via.value()), landing.via_bytes.data(), landing.via_size);
  }
}

void protect(core::AddressRange text, int protection) {
  SP_CHECK(mprotect(word_at(text.begin.value()), text.size(), protection) == 0);
}

}  // namespace

LoadedLibrary::LoadedLibrary(const std::string& path) {
  std::string folder = std::filesystem::temp_directory_path() / "sp_copies_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return;
  }
  const std::string file = folder + "/library.so";
  std::error_code error;
  std::filesystem::copy_file(path, file, error);
  handle_ = error ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove_all(folder, error);
  if (handle_ == nullptr) {
    return;
  }
  const link_map* map = nullptr;
  SP_CHECK(dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0);
  bias_ = map->l_addr;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t /*size*/, void* argument) {
        auto& self = *static_cast<LoadedLibrary*>(argument);
        for (int i = 0; module->dlpi_addr == self.bias_ && i < module->dlpi_phnum; ++i) {
          const auto& segment = module->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
            constexpr std::uint64_t kPage = 4096;
            self.text_ = {Address{(self.bias_ + segment.p_vaddr) & ~(kPage - 1)},
                          Address{(self.bias_ + segment.p_vaddr + segment.p_memsz + kPage - 1) &
                                  ~(kPage - 1)}};
          }
        }
        return 0;
      },
      this);
}

LoadedLibrary::~LoadedLibrary() {
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

void* LoadedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

RunningCopies::RunningCopies(const LoadedLibrary& library, const std::string& path,
                             CopyOptions options)
    : bias_(library.bias()), text_(library.text()) {
  const auto functions = ElfFunctions::open(path, library.bias(), true);
  SP_CHECK(functions.has_value());
  region_ = map_near(library.text());
  core::CopyPlace place{region_.begin, region_.size(), kCounters};
  if (options.counts_transfers) {
    const std::uint64_t entries = kCounters + 8 * kMostCounters;
    place.transfers = {entries, entries + 8 * kTableWords, entries + 8 * kTableWords + 8};
  }
  if (options.writes_events) {
    const std::uint64_t entries = kCounters + 8 * kMostCounters;
    const std::uint64_t behind = entries + 8 * kTableWords;
    place.events = {entries, behind, behind + 8, behind + 16, options.waits};
  }
  for (std::size_t i = 0; i < functions->size(); ++i) {
    const ElfFunction function = functions->at(i);
    core::FunctionToCopy to_copy = function.to_copy();
    to_copy.is_complete = to_copy.is_complete && options.is_complete;
    to_copy.allow_spill = options.allow_spill;
    if (options.writes_events) {
      choose_places(to_copy);
    }
    auto copy = copy_function(to_copy, place);
    if (!copy) {
      ++refused_;
      continue;
    }
    std::memcpy(word_at(copy->at.value()), copy->code.data(), copy->code.size());
    place.at = place.at + copy->code.size();
    place.room -= copy->code.size();
    place.counters += 8 * std::uint64_t{copy->counters};
    copies_.push_back(std::move(*copy));
  }
  SP_CHECK(place.counters <= kCounters + 8 * kMostCounters);
  counters.assign(kMostCounters + kTableWords + 3, 0);
  set_gs(std::bit_cast<std::uint64_t>(counters.data()) - kCounters);
  running = &copies_;
  breakpoints.clear();
  hits = 0;
  take_traps();
  protect(text_, PROT_READ | PROT_WRITE | PROT_EXEC);
  original_.resize(text_.size());
  std::memcpy(original_.data(), word_at(text_.begin.value()), text_.size());
  for (const FunctionCopy& copy : copies_) {
    for (const core::CopyLanding& landing : copy.landings) {
      write_landing(landing);
    }
  }
}

RunningCopies::~RunningCopies() {
  std::memcpy(word_at(text_.begin.value()), original_.data(), text_.size());
  protect(text_, PROT_READ | PROT_EXEC);
  running = nullptr;
  set_gs(0);
  munmap(word_at(region_.begin.value()), region_.size());
}

std::map<std::uint64_t, std::uint64_t> RunningCopies::counts() const {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const FunctionCopy& copy : copies_) {
    for (const core::CopiedBlock& block : copy.blocks) {
      counts[block.start.value() - bias_] = counters[(block.counter - kCounters) / 8];
    }
  }
  return counts;
}

WaysTaken RunningCopies::ways() const {
  const auto value = [](std::uint64_t counter) { return counters[(counter - kCounters) / 8]; };
  WaysTaken ways;
  for (const FunctionCopy& copy : copies_) {
    for (const core::CopiedBranch& branch : copy.branches) {
      const core::CopiedBlock& block = copy.blocks[branch.block];
      // The branch is the block's last instruction: the copy's last that has a place in it.
      const auto last = std::find_if(copy.map.rbegin(), copy.map.rend(), [&](const auto& entry) {
        return entry.is_entry != 0 && copy.block_of(copy.original_of(entry)) == branch.block;
      });
      const std::uint64_t from = copy.original_of(*last).value() - bias_;
      const bool is_taken = branch.counted == core::CopiedBranch::Counted::taken_by_block;
      const std::uint64_t counted = value(branch.counter);
      const std::uint64_t other = value(block.counter) - counted;
      ways[{from, branch.next.value() - bias_}] += is_taken ? other : counted;
      ways[{from, branch.taken.value() - bias_}] += is_taken ? counted : other;
    }
  }
  return ways;
}

WaysTaken RunningCopies::transfers() const {
  std::unordered_map<std::uint32_t, std::uint64_t> from;  // by site
  for (const FunctionCopy& copy : copies_) {
    for (const auto& entry : copy.map) {
      const Address original = copy.original_of(entry);
      const auto block = copy.block_of(original);
      if (block && copy.blocks[*block].counts_transfer && entry.is_transferred != 0) {
        from[copy.blocks[*block].site()] = original.value() - bias_;
      }
    }
  }
  WaysTaken ways;
  for (std::size_t i = 0; i < core::TransferTable::kEntries; ++i) {
    const std::uint64_t* const entry = &counters[kMostCounters + 4 * i];
    if (entry[2] != 0) {
      ways[{from.at(static_cast<std::uint32_t>(entry[2])), place_of(Address{entry[0]})}] = entry[1];
    }
  }
  for (const FunctionCopy& copy : copies_) {
    for (const core::CopiedTable& table : copy.tables) {
      const core::CopiedBlock& block = copy.blocks[table.block];
      for (std::size_t i = 0; i < table.destinations->size(); ++i) {
        const std::uint64_t count = counters[(table.counter - kCounters) / 8 + i];
        if (count != 0) {
          ways[{from.at(block.site()), place_of((*table.destinations)[i])}] += count;
        }
      }
    }
  }
  return ways;
}

std::uint64_t RunningCopies::tables() const {
  std::uint64_t tables = 0;
  for (const FunctionCopy& copy : copies_) {
    tables += copy.data > 0 ? 1 : 0;
  }
  return tables;
}

void RunningCopies::choose_places(core::FunctionToCopy& function) {
  const auto add = [&](Address at) {
    function.places.push_back({at, static_cast<std::uint32_t>(places_.size())});
    places_.push_back(at);
  };
  add(function.bounds.begin);
  for (const core::BasicBlock& block : function.graph->blocks) {
    if (block.last.flow == core::Flow::ret && block.start != function.bounds.begin) {
      add(block.last.address);
    }
  }
}

std::vector<RunningCopies::Event> RunningCopies::events() const {
  std::vector<Event> events;
  const std::uint64_t* const words = &counters[kMostCounters];
  for (const std::uint64_t* at = words; at < words + words[kTableWords] / 8; at += 4) {
    events.push_back({at[0], at[1], at[2], places_.at(at[3]).value() - bias_});
  }
  return events;
}

std::uint64_t RunningCopies::lost_events() const {
  return counters[kMostCounters + kTableWords + 2];
}

bool RunningCopies::is_full() const {
  const std::uint64_t cursor = std::atomic_ref(counters[kMostCounters + kTableWords]).load();
  const std::uint64_t read = std::atomic_ref(counters[kMostCounters + kTableWords + 1]).load();
  return (cursor + core::EventRing::kEntrySize) % core::EventRing::kBytes == read;
}

void RunningCopies::make_room() {
  const std::uint64_t cursor = std::atomic_ref(counters[kMostCounters + kTableWords]).load();
  std::atomic_ref(counters[kMostCounters + kTableWords + 1]).store(cursor);
}

void RunningCopies::open_waits() {
  constexpr std::uint8_t kOfWait = 2;
  for (const FunctionCopy& copy : copies_) {
    for (const core::CopyExit& exit : copy.exits) {
      if (exit.size == kOfWait) {
        std::memcpy(word_at(exit.at.value()), exit.bytes.data(), exit.size);
      }
    }
  }
}

std::uint64_t RunningCopies::place_of(Address address) const {
  return text_.contains(address) ? address.value() - bias_ : address.value();
}

void RunningCopies::reset_counts() { std::fill(counters.begin(), counters.end(), 0); }

std::uint64_t RunningCopies::breakpoint_hits() const { return hits; }

void RunningCopies::start_leaving(unsigned period) {
  leaving_period = period;
  moves_made = 0;
  set_trap_flag(true);
}

void RunningCopies::stop() {
  set_trap_flag(false);
  leaving_period = 0;
}

std::uint64_t RunningCopies::moves() const { return moves_made; }

SteppedCounts::SteppedCounts(const LoadedLibrary& library, const std::vector<std::uint64_t>& blocks)
    : bias_(library.bias()), text_(library.text()) {
  stepped.clear();
  for (const std::uint64_t block : blocks) {
    stepped[block + bias_] = 0;
  }
  take_traps();
}

WaysTaken SteppedCounts::ways(const WaysTaken& wanted) const {
  WaysTaken ways;
  for (const auto& [way, count] : wanted) {
    ways[way] = ways_taken[way.first + bias_][way.second + bias_];
  }
  return ways;
}

WaysTaken SteppedCounts::transfers(const WaysTaken& wanted) const {
  WaysTaken ways;
  for (const auto& [way, count] : wanted) {
    for (const auto& [to, times] : ways_taken[way.first + bias_]) {
      ways[{way.first, text_.contains(Address{to}) ? to - bias_ : to}] = times;
    }
  }
  return ways;
}

SteppedCounts::~SteppedCounts() {
  stepped.clear();
  ways_taken.clear();
}

void SteppedCounts::start() {
  last_pc = 0;
  set_trap_flag(true);
}

void SteppedCounts::stop() { set_trap_flag(false); }

std::map<std::uint64_t, std::uint64_t> SteppedCounts::counts() const {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& [address, count] : stepped) {
    counts[address - bias_] = count;
  }
  return counts;
}

}  // namespace sp::rewriter
