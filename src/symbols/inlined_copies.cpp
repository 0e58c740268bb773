#include "symbols/inlined_copies.h"

#include <dwarf.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "symbols/debug_files.h"
#include "symbols/die_walk.h"
#include "symbols/dwarf_file.h"

namespace sp::symbols {
namespace {

/// The entries of one unit, parents before children. In a sound file it only moves forward; a
/// damaged one may lead back, and the walk ends there.
class UnitWalk {
 public:
  UnitWalk(const std::function<bool(std::string_view)>& is_wanted, core::TimePoint deadline,
           InlinedCopies& found)
      : is_wanted_(is_wanted), deadline_(deadline), found_(found) {}

  void visit_children(Dwarf_Die& parent, int depth) {
    constexpr int kDeepest = 200;
    Dwarf_Die die;
    if (depth > kDeepest || dwarf_child(&parent, &die) != 0) {
      return;
    }
    do {
      if (die.addr <= farthest_ || is_late()) {
        return;
      }
      farthest_ = die.addr;
      if (dwarf_tag(&die) == DW_TAG_inlined_subroutine) {
        note(die);
      }
      visit_children(die, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
  }

 private:
  bool is_late() {
    constexpr unsigned kBetweenLooks = 4096;
    if (++visited_ % kBetweenLooks == 0 && core::Clock::now() > deadline_) {
      found_.is_complete = false;
    }
    return !found_.is_complete;
  }

  void note(Dwarf_Die& die) {
    const std::string name = name_of(die);
    const auto [known, is_new] = wanted_.try_emplace(name, false);
    if (is_new) {
      known->second = !name.empty() && is_wanted_(name);
    }
    if (known->second) {
      ++found_.copies[name];
    }
  }

  const std::function<bool(std::string_view)>& is_wanted_;
  core::TimePoint deadline_;
  InlinedCopies& found_;
  const void* farthest_ = nullptr;
  unsigned visited_ = 0;
  std::unordered_map<std::string, bool> wanted_;
};

}  // namespace

InlinedCopies find_inlined_copies(const std::shared_ptr<const core::ElfImage>& image,
                                  const std::string& path, const std::string& root,
                                  const std::vector<std::string>& debug_directories,
                                  const std::function<bool(std::string_view)>& is_wanted,
                                  core::TimePoint deadline) {
  InlinedCopies found;
  auto sources = find_dwarf(image, path, root, debug_directories);
  if (!sources) {
    return found;
  }
  DwarfFile dwarf(std::move(sources->main), std::move(sources->alternate));
  for (std::uint32_t i = 0; i < dwarf.unit_count() && found.is_complete; ++i) {
    UnitWalk(is_wanted, deadline, found).visit_children(dwarf.unit(i).functions, 0);
  }
  return found;
}

}  // namespace sp::symbols
