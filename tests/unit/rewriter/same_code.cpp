#include "unit/rewriter/same_code.h"

#include <capstone/capstone.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/x86_64/decoder.h"

namespace sp::rewriter {
namespace {

using core::Address;
using core::Flow;
using core::FunctionCopy;
using MapEntry = core::FunctionCopy::MapEntry;

/// An instruction as text that does not depend on where it is.
struct Text {
  std::string what;
  std::uint64_t size = 0;
  std::optional<Address> target;  // of a direct jump or call
};

class Disassembler {
 public:
  Disassembler() {
    cs_open(CS_ARCH_X86, CS_MODE_64, &handle_);
    instruction_ = cs_malloc(handle_);
  }
  ~Disassembler() {
    cs_free(instruction_, 1);
    cs_close(&handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// Where Capstone has nothing, the bytes.
  Text read(std::span<const std::byte> code, Address at) {
    const auto ours = arch::x86_64::decode(code, at);
    if (!ours) {
      return {"not an instruction", 1, {}};
    }
    Text text;
    text.size = ours->length;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    std::size_t left = ours->length;
    std::uint64_t address = at.value();
    if (!cs_disasm_iter(handle_, &bytes, &left, &address, instruction_) || left != 0) {
      const auto encoding = *arch::x86_64::read_encoding(code);
      const std::size_t place = encoding.displacement_offset;
      for (std::size_t i = 0; i < ours->length; ++i) {
        if (!encoding.is_rip_relative() || i < place || i >= place + 4) {
          text.what += fmt::format("{:02x} ", std::to_integer<unsigned>(code[i]));
        }
      }
      if (encoding.is_rip_relative()) {
        const Address next = at + ours->length;
        text.what +=
            fmt::format("={:x}", next.value() + static_cast<std::uint64_t>(encoding.displacement));
      }
      return text;
    }
    text.what = instruction_->mnemonic;
    const std::string_view operands = instruction_->op_str;
    if (ours->target) {
      text.target = Address{std::strtoull(instruction_->op_str, nullptr, 16)};
      return text;
    }
    const auto rip = operands.find("[rip");
    text.what += " ";
    text.what += operands.substr(0, rip);
    if (rip != std::string_view::npos) {
      const auto end = operands.find(']', rip);
      const char* number = instruction_->op_str + rip + sizeof("[rip +");
      const std::uint64_t distance = end - rip > 5 ? std::strtoull(number, nullptr, 16) : 0;
      const bool is_negative = operands[rip + sizeof("[rip")] == '-';
      const std::uint64_t next = at.value() + ours->length;
      text.what += fmt::format("={:x}", is_negative ? next - distance : next + distance);
      text.what += operands.substr(end);
    }
    return text;
  }

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

class Comparison {
 public:
  Comparison(const core::FunctionToCopy& function, const FunctionCopy& copy)
      : function_(function), copy_(copy), kept_(copy.kept.begin(), copy.kept.end()) {}

  std::string run() {
    if (copy_.blocks.size() != function_.graph->blocks.size()) {
      return "another number of blocks";
    }
    std::string found = check_map();
    for (std::uint32_t i = 0; found.empty() && i < copy_.blocks.size(); ++i) {
      found = check_block(i);
    }
    if (found.empty()) {
      found = check_landings();
    }
    return found.empty() ? check_exits() : found;
  }

 private:
  Text text_in_copy(Address at) {
    return disassembler_.read(std::span(copy_.code).subspan(at - copy_.at), at);
  }
  Text text_in_original(Address at) {
    return disassembler_.read(function_.code.subspan(at - function_.bounds.begin), at);
  }
  /// Covers all bytes, and counts each block once.
  std::string check_map() {
    std::uint64_t next = 0;
    std::map<std::uint32_t, int> counted;
    std::size_t counted_branches = 0;
    for (const MapEntry& entry : copy_.map) {
      const std::uint32_t block = copy_.to_original(copy_.at + entry.copy)->block;
      if (entry.copy != next) {
        return fmt::format("map entry at {:x} instead of {:x}", entry.copy, next);
      }
      const Text text = text_in_copy(copy_.at + entry.copy);
      next += text.size + data_behind(entry);
      const bool is_branching = entry.is_branching != 0;
      const std::uint64_t of_branch = copy_.to_original(copy_.at + entry.copy)->uncounted_branch;
      const std::string counter =
          fmt::format("gs:[{:#x}]", is_branching ? of_branch : copy_.blocks[block].counter);
      if (text.what.find("*8 + ") != std::string::npos &&
          text.what.find("gs:[") != std::string::npos) {
        continue;  // of a table's entry
      }
      const bool is_access = text.what.find("gs:[") != std::string::npos;
      if (is_access && text.what.find(counter) == std::string::npos) {
        return "another counter: " + text.what;
      }
      const bool counts = is_access && (text.what.starts_with("inc qword ptr gs:[") ||
                                        text.what.starts_with("mov qword ptr gs:["));
      if (is_branching) {
        counted_branches += counts ? 1 : 0;
        continue;
      }
      counted[block] += counts ? 1 : 0;
      const bool is_counted = entry.is_counted != 0;
      const bool sets_register = copy_.undos[entry.undo].address_in != core::CopyUndo::kNone;
      if (is_counted != (counted[block] != (counts ? 1 : 0)) && !is_glue(entry) && !sets_register) {
        return fmt::format("counted too early or late at {:x}", entry.copy);
      }
    }
    const bool once = std::all_of(counted.begin(), counted.end(),
                                  [](const auto& block) { return block.second == 1; });
    if (next != copy_.code.size() - copy_.data || !once || counted.size() != copy_.blocks.size()) {
      return "not each block is counted once";
    }
    std::size_t own = copy_.counters - copy_.blocks.size();
    for (const core::CopiedTable& table : copy_.tables) {
      own -= table.destinations->size();
    }
    return counted_branches == own ? "" : "not each branch is counted once";
  }

  /// The address that an emulated call returns to, which the call there jumps over.
  std::uint64_t data_behind(const MapEntry& entry) {
    constexpr std::array kCall = {std::byte{0xE8}, std::byte{8}, std::byte{}, std::byte{},
                                  std::byte{}};
    constexpr std::uint64_t kAddress = 8;
    const auto code = std::span(copy_.code).subspan(entry.copy);
    const bool is_emulated =
        code.size() >= kCall.size() && std::equal(kCall.begin(), kCall.end(), code.begin());
    return is_emulated ? kAddress : 0;
  }

  /// A jump of the copy's own to where the original's code goes on.
  bool is_glue(const MapEntry& entry) {
    const Text text = text_in_copy(copy_.at + entry.copy);
    return text.target.has_value() && entry.is_entry == 0;
  }

  std::string check_block(std::uint32_t index) {
    const core::BasicBlock& block = function_.graph->blocks[index];
    Address at = block.start;
    for (const std::uint8_t length : block.lengths) {
      const std::string found = kept_.contains(at) ? check_kept(at) : check_instruction(at);
      if (!found.empty()) {
        return found;
      }
      at = at + length;
    }
    const auto start = copy_.to_original(copy_.blocks[index].copy);
    if (!start || start->original != block.start || start->is_counted || start->block != index) {
      return fmt::format("block {:x} does not start at its copy", block.start.value());
    }
    return "";
  }

  std::string check_kept(Address at) {
    if (copy_.to_copy(at)) {
      return fmt::format("kept {:x} can be entered", at.value());
    }
    const bool is_jumped_to = std::any_of(copy_.map.begin(), copy_.map.end(), [&](auto& entry) {
      return copy_.original_of(entry) == at && text_in_copy(copy_.at + entry.copy).target == at;
    });
    return is_jumped_to ? "" : fmt::format("nothing leads to {:x}", at.value());
  }

  std::string check_instruction(Address at) {
    const auto entry = copy_.to_copy(at);
    if (!entry) {
      return fmt::format("{:x} is not in the copy", at.value());
    }
    auto map = std::lower_bound(
        copy_.map.begin(), copy_.map.end(), *entry - copy_.at,
        [](const MapEntry& left, std::uint64_t offset) { return left.copy < offset; });
    while (std::next(map) != copy_.map.end() && copy_.original_of(*std::next(map)) == at &&
           std::next(map)->is_entry == 0) {
      ++map;  // over the counter and the pushes of an emulated call
    }
    const Text theirs = text_in_original(at);
    const auto instruction =
        arch::x86_64::decode(function_.code.subspan(at - function_.bounds.begin), at);
    const bool is_call =
        instruction->flow == Flow::call || instruction->flow == Flow::indirect_call;
    const Text ours = text_in_copy(copy_.at + map->copy);
    if (is_call) {
      return check_emulated(*map, theirs, ours);
    }
    const bool is_of_table = copy_.data > 0 && ours.what.find("*8") != std::string::npos &&
                             theirs.what.find("*8") != std::string::npos;
    if (ours.what != theirs.what && !is_of_table) {
      return fmt::format("{:x}: {} became {}", at.value(), theirs.what, ours.what);
    }
    if (theirs.target && !leads_to(*ours.target, *theirs.target)) {
      return fmt::format("{:x}: {} leads elsewhere", at.value(), theirs.what);
    }
    const bool goes_on = instruction->flow == Flow::next || instruction->flow == Flow::branch;
    if (goes_on && (std::next(map) == copy_.map.end() ||
                    copy_.original_of(*std::next(map)) != instruction->next())) {
      return fmt::format("{:x} does not go on", at.value());
    }
    return "";
  }

  std::string check_emulated(const MapEntry& map, const Text& call, const Text& jump) {
    const core::CopyUndo undo{8};
    const bool is_right = call.target ? jump.target == call.target : jump.what.find("jmp") == 0;
    return is_right && copy_.undos[map.undo] == undo
               ? ""
               : fmt::format("call {} became {}", call.what, jump.what);
  }

  bool leads_to(Address in_copy, Address original) const {
    if (!copy_.range().contains(in_copy)) {
      return in_copy == original;
    }
    const auto point = copy_.to_original(in_copy);
    return point && point->original == original && point->undo == core::CopyUndo{};
  }

  /// Each jump back in the copy leads to one, and it is where a jump can be written.
  std::string check_exits() {
    std::set<Address> places;
    for (const core::CopyExit& exit : copy_.exits) {
      const auto point = copy_.to_original(exit.at);
      const Text jump = disassembler_.read(exit.bytes, exit.at);
      if (!point || point->original != exit.original || point->is_counted ||
          point->undo != core::CopyUndo{} || text_in_copy(exit.at).size < exit.room ||
          exit.room < exit.size || jump.size != exit.size || jump.target != exit.original) {
        return fmt::format("exit at {:x}", exit.at.value());
      }
      places.insert(exit.at);
    }
    bool is_behind_setter = false;  // where an entry of a table leads to, from there
    for (const MapEntry& entry : copy_.map) {
      const Address at = copy_.at + entry.copy;
      const auto target = text_in_copy(at).target;
      const bool is_of_setter = std::exchange(
          is_behind_setter, copy_.undos[entry.undo].address_in != core::CopyUndo::kNone);
      if (!is_of_setter && target && copy_.range().contains(*target) && *target <= at &&
          !places.contains(*target)) {
        return fmt::format("the loop at {:x} has no exit", target->value());
      }
    }
    return "";
  }

  [[nodiscard]] bool is_cut(Address start) const {
    return std::any_of(
        function_.graph->blocks.begin(), function_.graph->blocks.end(),
        [start](const core::BasicBlock& block) { return block.is_cut && block.start == start; });
  }
  /// A jump of another landing has bytes there.
  [[nodiscard]] bool covers(Address at) const {
    return std::any_of(copy_.landings.begin(), copy_.landings.end(),
                       [at](const core::CopyLanding& landing) {
                         return landing.at < at && at < landing.at + landing.size;
                       });
  }
  std::string check_landings() {
    for (const core::CopyLanding& landing : copy_.landings) {
      const std::string name = fmt::format("landing {:x}: ", landing.at.value());
      const auto point = copy_.to_original(landing.copy);
      if (!point || point->original != landing.at) {
        return name + "leads elsewhere";
      }
      const bool is_covered = is_cut(landing.at) && covers(landing.at);
      if ((is_unlocked(landing.at) || is_covered) !=
          (landing.form == core::CopyLanding::Form::none)) {
        return name + "should be another one";
      }
      if (landing.form != core::CopyLanding::Form::jump) {
        continue;
      }
      const Text jump = disassembler_.read(landing.bytes, landing.at);
      const Text via = disassembler_.read(landing.via_bytes, landing.via);
      const bool leads = landing.via_size == 0
                             ? jump.target == landing.copy
                             : jump.target == landing.via && via.target == landing.copy;
      if (!leads || jump.size != landing.size) {
        return name + "another jump";
      }
      const core::AddressRange window{landing.at, landing.at + landing.size};
      const Text first = text_in_original(landing.at);
      if (!function_.is_complete && first.size < landing.size &&
          !are_dead(landing.at + first.size, window.end)) {
        return name + "changes a byte at which an instruction begins";
      }
      for (const core::CopyLanding& other : copy_.landings) {
        if (other.at != landing.at && window.contains(other.at) && !is_cut(other.at)) {
          return name + "covers another one";
        }
      }
      for (const Address kept : copy_.kept) {
        if (window.begin < kept + text_in_original(kept).size && kept < window.end) {
          return name + "covers a kept instruction";
        }
      }
    }
    const bool has_all = std::all_of(copy_.blocks.begin(), copy_.blocks.end(), [&](auto& block) {
      return std::any_of(copy_.landings.begin(), copy_.landings.end(),
                         [&](auto& landing) { return landing.copy == block.copy; });
    });
    return has_all ? "" : "a block has no landing";
  }

  [[nodiscard]] bool is_unlocked(Address start) const {
    return std::any_of(function_.graph->blocks.begin(), function_.graph->blocks.end(),
                       [start](const core::BasicBlock& block) {
                         return block.start == start && block.is_unlocked;
                       });
  }

  [[nodiscard]] bool are_dead(Address begin, Address end) const {
    return std::any_of(function_.dead.begin(), function_.dead.end(),
                       [&](const auto& range) { return range.begin <= begin && end <= range.end; });
  }

  const core::FunctionToCopy& function_;
  const FunctionCopy& copy_;
  std::set<Address> kept_;
  Disassembler disassembler_;
};

}  // namespace

std::string difference(const core::FunctionToCopy& function, const FunctionCopy& copy) {
  return Comparison(function, copy).run();
}

}  // namespace sp::rewriter
