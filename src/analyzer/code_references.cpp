#include "analyzer/code_references.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/bytes.h"
#include "symbols/elf_sections.h"

namespace sp::analyzer {
namespace {

using arch::Native;
using core::Address;
using core::AddressRange;

/// Collects the references of one file.
class Scan {
 public:
  Scan(const std::shared_ptr<const core::ElfImage>& image,
       std::span<const core::CandidateFunction> functions, const std::atomic<bool>& stop)
      : image_(*image), sections_(image), functions_(functions), stop_(stop) {}

  core::CodeReferences run() {
    find_constants();
    for (const core::LoadSegment& segment : image_.segments()) {
      if (segment.executable) {
        scan_code({Address{segment.address}, Address{segment.address + segment.file_size}});
      } else {
        scan_words(segment);
      }
    }
    read_sections();
    for (auto* const list : {&references_.jumps, &references_.calls, &references_.pointers,
                             &references_.data, &references_.flag_returners}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    std::sort(references_.jump_sources.begin(), references_.jump_sources.end());
    add_tail_callees();
    return std::move(references_);
  }

 private:
  void read_sections() {
    for (const symbols::Section& section : sections_.all()) {
      const bool is_plt = section.name == ".plt" || section.name.starts_with(".plt.");
      references_.has_restartable_sequences |= section.name == "__rseq_cs";
      references_.has_own_stacks |= section.name.ends_with(".gopclntab");
      if (is_plt) {
        add_stubs(section);
      }
    }
  }

  /// Entries of 16 bytes, or of 8 that hold one jump.
  void add_stubs(const symbols::Section& section) {
    constexpr std::uint64_t kEntry = 16;
    constexpr std::uint64_t kShortEntry = 8;
    const auto first = Native::decode(sections_.bytes(section), Address{section.address});
    const bool is_short =
        section.name == ".plt.got" && first && first->flow == core::Flow::indirect_jump;
    const std::uint64_t size = is_short ? kShortEntry : kEntry;
    for (std::uint64_t at = section.address; at + size <= section.address + section.size;
         at += size) {
      references_.stubs.push_back({at, at + size});
    }
  }

  /// Functions, and the code between them.
  void scan_code(AddressRange segment) {
    Address at = segment.begin;
    for (const core::CandidateFunction& function : functions_) {
      if (stop_) {
        return;
      }
      const AddressRange bounds{Address{function.begin}, Address{function.end}};
      if (!segment.contains(bounds.begin) || bounds.begin < at) {
        continue;
      }
      scan_range({at, bounds.begin});
      scan_range(bounds);
      at = bounds.end;
    }
    scan_range({at, segment.end});
  }

  void scan_range(AddressRange range) {
    const auto bytes = image_.bytes_at(range.begin.value());
    const std::size_t size = std::min<std::size_t>(bytes.size(), range.size());
    callee_ = {};
    for (std::size_t offset = 0; offset < size;) {
      const auto rest = bytes.subspan(offset);
      const Address at = range.begin + offset;
      const auto instruction = Native::decode(rest, at);
      if (!instruction) {
        callee_ = {};
        ++offset;
        continue;
      }
      const auto code = rest.first(instruction->length);
      note_flags(*instruction, code);
      if (instruction->target) {
        note_jump(*instruction, range);
      }
      for (const std::uint64_t value : Native::code_pointers(code, at)) {
        note_pointer(value);
      }
      if (const auto memory = Native::named_memory(code, at);
          memory && !image_.is_executable_at(*memory)) {
        references_.data.push_back(*memory);
      }
      offset += instruction->length;
    }
  }

  /// LLVM's machine outliner makes functions of pieces of code, and these may return flags.
  void note_flags(const core::Instruction& instruction, std::span<const std::byte> code) {
    references_.uses_counter_segment |= Native::sets_counter_segment(code);
    if (callee_ != Address{}) {
      const arch::FlagUse use = Native::flag_use(code);
      if (use.reads) {
        references_.flag_returners.push_back(callee_.value());
      }
      if (instruction.flow == core::Flow::ret || instruction.flow == core::Flow::jump) {
        passed_on_.emplace_back(instruction.address.value(), callee_.value());
      }
      if (use.reads || use.kills || instruction.flow != core::Flow::next) {
        callee_ = {};
      }
    }
    if (instruction.flow == core::Flow::call && instruction.target) {
      callee_ = *instruction.target;
    }
  }

  /// Where a function that returns flags goes on in another one, or returns those of one that it
  /// has called, that one returns them, too.
  void add_tail_callees() {
    for (const auto& jump : references_.jump_sources) {
      passed_on_.emplace_back(jump.from, jump.to);
    }
    std::sort(passed_on_.begin(), passed_on_.end());
    std::vector<std::uint64_t>& all = references_.flag_returners;
    std::unordered_set<std::uint64_t> known(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const core::CandidateFunction* const function = function_at(all[i]);
      if (function == nullptr) {
        continue;
      }
      auto passed = std::lower_bound(passed_on_.begin(), passed_on_.end(),
                                     std::pair{function->begin, std::uint64_t{0}});
      for (; passed != passed_on_.end() && passed->first < function->end; ++passed) {
        if (known.insert(passed->second).second) {
          all.push_back(passed->second);
        }
      }
    }
    std::sort(all.begin(), all.end());
  }

  /// Functions are in the order of their addresses.
  [[nodiscard]] const core::CandidateFunction* function_at(std::uint64_t address) const {
    auto next =
        std::upper_bound(functions_.begin(), functions_.end(), address,
                         [](std::uint64_t value, const auto& one) { return value < one.begin; });
    return next != functions_.begin() && address < (--next)->end ? &*next : nullptr;
  }

  void note_jump(const core::Instruction& instruction, AddressRange within) {
    const Address target = *instruction.target;
    const bool is_inside = within.contains(target) && instruction.flow != core::Flow::call;
    if (!is_inside && image_.is_executable_at(target.value())) {
      references_.jumps.push_back(target.value());
      if (instruction.flow == core::Flow::call) {
        references_.calls.push_back(target.value());
      } else {
        references_.jump_sources.push_back({target.value(), instruction.address.value()});
      }
    }
  }

  void note_pointer(std::uint64_t value) {
    if (image_.is_executable_at(value)) {
      references_.pointers.push_back(value);
    }
  }

  void scan_words(const core::LoadSegment& segment) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const auto bytes = image_.bytes_at(segment.address);
    const std::size_t size = std::min<std::size_t>(bytes.size(), segment.file_size);
    for (std::size_t at = (kWord - segment.address % kWord) % kWord; at + kWord <= size;
         at += kWord) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data() + at, kWord);
      if (value != 0 && !is_constant(segment.address + at)) {
        note_pointer(value);
      }
    }
  }

  /// Read-only data of a file that may be mapped anywhere holds no addresses, but for sections of
  /// other types: relocations, symbols.
  void find_constants() {
    const auto type = core::read_at<std::uint16_t>(image_.bytes(), offsetof(Elf64_Ehdr, e_type));
    for (const symbols::Section& section : sections_.all()) {
      constexpr std::uint64_t kOther = SHF_WRITE | SHF_EXECINSTR;
      if (type == ET_DYN && section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0 &&
          (section.flags & kOther) == 0) {
        constants_.emplace_back(section.address, section.address + section.size);
      }
    }
  }

  [[nodiscard]] bool is_constant(std::uint64_t address) const {
    return std::any_of(constants_.begin(), constants_.end(), [address](const auto& range) {
      return range.first <= address && address < range.second;
    });
  }

  const core::ElfImage& image_;
  symbols::ElfSections sections_;
  std::span<const core::CandidateFunction> functions_;
  const std::atomic<bool>& stop_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> constants_;  // [begin, end)
  std::vector<std::pair<std::uint64_t, std::uint64_t>> passed_on_;  // flags: from, to
  Address callee_;  // of the call behind which nothing has set flags yet
  core::CodeReferences references_;
};

}  // namespace

core::CodeReferences find_code_references(const std::shared_ptr<const core::ElfImage>& image,
                                          std::span<const core::CandidateFunction> functions,
                                          const std::atomic<bool>& stop) {
  return Scan(image, functions, stop).run();
}

}  // namespace sp::analyzer
