#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/elf_sections.h"
#include "symbols/fde_bounds.h"

namespace sp::symbols {

/// A linker-generated jump through the global offset table.
struct PltStub {
  CodeRange range;
  std::uint64_t slot = 0;  // address of the table slot that holds the destination
};

/// The stubs among a section's bytes, by the instructions that load the slot. Pure.
[[nodiscard]] std::vector<PltStub> find_x86_64_stubs(std::span<const std::byte> code,
                                                     std::uint64_t address);
[[nodiscard]] std::vector<PltStub> find_aarch64_stubs(std::span<const std::byte> code,
                                                      std::uint64_t address);

/// Names the stubs of .plt, .plt.sec, .plt.got: "puts@plt". The file's relocations name the slots,
/// so this works on stripped files.
class PltNames {
 public:
  struct Hit {
    CodeRange range;
    std::string name;            // without "@plt"; perhaps mangled, with "@VERSION"
    std::uint64_t resolver = 0;  // not 0: no name, but the address of an IFUNC's resolver
  };

  /// Keeps the file alive, because names are views into it.
  explicit PltNames(ElfSections sections);

  [[nodiscard]] std::optional<Hit> find(std::uint64_t address) const;
  /// The symbol whose address the loader stores there; "" if there is none.
  [[nodiscard]] std::string_view name_in_slot(std::uint64_t slot) const;
  [[nodiscard]] std::size_t size() const { return stubs_.size(); }
  /// Calls `use` with each stub's first byte and name.
  template <typename Use>
  void for_each(Use use) const {
    for (const auto& [begin, stub] : stubs_) {
      if (const auto target = slots_.find(stub.slot); target != slots_.end()) {
        use(begin, target->second.name);
      }
    }
  }

 private:
  struct Target {
    std::string_view name;
    std::uint64_t resolver = 0;
  };

  void read_slots(const Section& relocations);
  void read_stubs(const Section& code);
  void keep(const PltStub& stub);

  ElfSections sections_;
  std::unordered_map<std::uint64_t, Target> slots_;
  std::map<std::uint64_t, PltStub> stubs_;  // by begin
  std::vector<std::uint64_t> lazy_slots_;   // the slots of .rela.plt in its order
};

}  // namespace sp::symbols
