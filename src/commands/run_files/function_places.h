#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/run_files/decoded_function.h"
#include "core/control_flow_graph.h"
#include "core/elf_image.h"
#include "core/place_choice.h"
#include "core/result.h"
#include "core/sled.h"
#include "symbols/elf_sections.h"
#include "symbols/plt_names.h"

namespace sp::run_files {

/// What compilers left for instrumentation in the functions of a file.
class FunctionPlaces {
 public:
  /// Reads what tells of sleds and of `via`. `functions` by address. Lists of the file that are
  /// damaged count as empty: check_places() tells of them.
  FunctionPlaces(core::Via via, const std::shared_ptr<const core::ElfImage>& image,
                 const std::vector<symbols::ElfSections>& sources,
                 std::span<const core::CandidateFunction> functions);

  struct Xray {
    std::uint32_t id = 0;
    bool always = false;  // xray_always_instrument
    bool logs_first_argument = false;
    std::vector<core::Sled> events{};  // of its custom and typed events
  };
  /// Of the function that begins there; null if it has no sleds.
  [[nodiscard]] const Xray* xray_of(std::uint64_t begin) const;
  /// The function has such a place. `code` is its own; null: not known.
  [[nodiscard]] bool has_place(std::uint64_t begin, const DecodedFunction* code) const;

 private:
  void find_hooks(const std::vector<symbols::ElfSections>& sources);
  [[nodiscard]] bool calls_one(const DecodedFunction& code, std::string_view hooks) const;

  core::Via via_;
  std::map<std::uint64_t, Xray> xray_;          // by the function's begin
  std::set<std::uint64_t> patchable_;           // begins of functions
  std::set<std::uint64_t> recorded_;            // likewise: of __mcount_loc
  std::map<std::uint64_t, std::string> hooks_;  // where the file itself defines them
  std::optional<symbols::PltNames> stubs_;      // with those, of fentry and cyg
};

/// "xray", "patchable", "fentry", "cyg"; "breakpoint" of any.
[[nodiscard]] std::string_view place_name(core::Via via);

/// Errors: the file has no such places, and which it has, or no function of these ids, or what
/// tells of them is damaged. `path` as the user knows it.
[[nodiscard]] core::Result<void> check_places(const std::shared_ptr<const core::ElfImage>& image,
                                              const std::string& path,
                                              const core::PlaceChoice& choice);

/// Errors: the file has no XRay map, or no function of these ids. Those with a module are for
/// others.
[[nodiscard]] core::Result<void> check_ids(const std::shared_ptr<const core::ElfImage>& image,
                                           const std::string& path,
                                           const std::vector<core::XrayIds>& ids);

/// The ids name this function of the file `path`.
[[nodiscard]] bool names_id(std::span<const core::XrayIds> ids, const std::string& path,
                            std::uint32_t id);

}  // namespace sp::run_files
