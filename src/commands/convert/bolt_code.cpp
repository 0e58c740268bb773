#include <elf.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "arch/aarch64/decoder.h"
#include "arch/x86_64/decoder.h"
#include "commands/convert/code_file.h"
#include "core/instruction.h"
#include "symbols/bolt_names.h"

namespace sp::convert {
namespace {

using core::Flow;
using profiler::BoltCode;
using profiler::RecordedCode;

using Decode = std::optional<core::Instruction> (*)(std::span<const std::byte>, core::Address);

struct Cpu {
  Decode decode = nullptr;
  bool (*is_nop)(std::span<const std::byte>) = nullptr;
};

/// nop, 66 nop, and 0f 1f /0 with prefixes; endbr64 is none.
bool is_x86_nop(std::span<const std::byte> code) {
  std::size_t at = 0;
  while (at < code.size() && (code[at] == std::byte{0x66} || code[at] == std::byte{0x2e})) {
    ++at;
  }
  const auto rest = code.subspan(at);
  return (rest.size() == 1 && rest[0] == std::byte{0x90}) ||
         (rest.size() > 2 && rest[0] == std::byte{0x0f} && rest[1] == std::byte{0x1f});
}

bool is_aarch64_nop(std::span<const std::byte> code) {
  constexpr std::byte kNop[] = {std::byte{0x1f}, std::byte{0x20}, std::byte{0x03}, std::byte{0xd5}};
  return std::equal(code.begin(), code.end(), std::begin(kNop), std::end(kNop));
}

std::optional<Cpu> cpu_of(std::uint16_t machine) {
  if (machine == EM_X86_64) {
    return Cpu{[](std::span<const std::byte> bytes, core::Address address) {
                 return arch::x86_64::decode(bytes, address);
               },
               is_x86_nop};
  }
  if (machine == EM_AARCH64) {
    return Cpu{[](std::span<const std::byte> bytes, core::Address address) {
                 return arch::aarch64::decode(bytes, address);
               },
               is_aarch64_nop};
  }
  return std::nullopt;
}

/// The file's bytes from `address` on, to the end of their section.
std::span<const std::byte> bytes_at(const symbols::ElfSections& file, std::uint64_t address) {
  for (const symbols::Section& section : file.all()) {
    if ((section.flags & SHF_EXECINSTR) != 0 && address >= section.address &&
        address - section.address < section.size) {
      const auto bytes = file.bytes(section);
      const std::uint64_t from = address - section.address;
      return from < bytes.size() ? bytes.subspan(from) : std::span<const std::byte>();
    }
  }
  return {};
}

struct Decoded {
  core::Instruction instruction;
  bool nop = false;
};

/// All instructions of a function. Empty if its bytes do not decode: BOLT leaves such a function
/// alone.
std::vector<Decoded> instructions_of(const BoltCode::Function& function,
                                     const symbols::ElfSections& file, const Cpu& cpu) {
  std::vector<Decoded> all;
  auto code = bytes_at(file, function.begin);
  code = code.first(std::min<std::uint64_t>(code.size(), function.end - function.begin));
  std::uint64_t address = function.begin;
  while (!code.empty()) {
    const auto instruction = cpu.decode(code, core::Address{address});
    if (!instruction || instruction->length == 0 || instruction->length > code.size()) {
      return {};
    }
    all.push_back({*instruction, cpu.is_nop(code.first(instruction->length))});
    address += instruction->length;
    code = code.subspan(instruction->length);
  }
  return all;
}

/// Where blocks begin: targets of jumps, and what is behind a jump. `jumped_to` are targets that
/// only a run shows.
std::set<std::uint64_t> leaders_in(const std::vector<Decoded>& code,
                                   std::span<const std::uint64_t> jumped_to) {
  std::set<std::uint64_t> leaders(jumped_to.begin(), jumped_to.end());
  for (const auto& [instruction, nop] : code) {
    if (instruction.flow == Flow::jump || instruction.flow == Flow::branch) {
      leaders.insert(instruction.target->value());
    }
    if (instruction.flow == Flow::branch) {
      leaders.insert(instruction.next().value());
    }
  }
  return leaders;
}

void add_leaders(const std::vector<Decoded>& code, const std::set<std::uint64_t>& leaders,
                 std::vector<BoltCode::Leader>& into) {
  const core::Instruction* before = nullptr;  // the last one that is no nop
  for (const auto& [instruction, nop] : code) {
    const std::uint64_t address = instruction.address.value();
    if (before != nullptr && leaders.contains(address)) {
      const Flow flow = before->flow;
      const bool call = flow == Flow::call || flow == Flow::indirect_call;
      if (call || flow == Flow::next || flow == Flow::branch || flow == Flow::syscall) {
        into.push_back({address, before->address.value(), call});
      }
    }
    if (!nop) {
      before = &instruction;
    }
  }
}

/// Destinations of indirect jumps within the module, sorted.
std::vector<std::uint64_t> jumped_to(const RecordedCode& counts, std::uint32_t module) {
  std::vector<std::uint64_t> targets;
  for (const RecordedCode::Edge& edge : counts.edges) {
    if (edge.flow == core::EdgeFlow::indirect && edge.from_module == module &&
        edge.to_module == module) {
      targets.push_back(edge.to);
    }
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

}  // namespace

core::Result<BoltCode> bolt_code(const symbols::ElfSections& file, const RecordedCode& counts,
                                 std::uint32_t module) {
  const auto cpu = cpu_of(file.machine());
  if (!cpu) {
    return core::fail("bolt: the file is for a CPU that is neither x86-64 nor aarch64");
  }
  BoltCode code;
  for (symbols::BoltFunction& function : symbols::bolt_functions(file)) {
    code.functions.push_back(
        {std::move(function.name), function.begin, function.end, function.local});
  }
  if (code.functions.empty()) {
    return core::fail(
        "bolt: the file has no .symtab; BOLT needs a program that is not stripped, linked with "
        "-Wl,-q");
  }
  const std::vector<std::uint64_t> targets = jumped_to(counts, module);
  for (const BoltCode::Function& function : code.functions) {
    const auto first = std::lower_bound(targets.begin(), targets.end(), function.begin);
    const auto last = std::lower_bound(first, targets.end(), function.end);
    const std::vector<Decoded> instructions = instructions_of(function, file, *cpu);
    add_leaders(instructions, leaders_in(instructions, std::span(first, last)), code.leaders);
  }
  return code;
}

}  // namespace sp::convert
