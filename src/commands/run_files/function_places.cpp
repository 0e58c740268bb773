#include "commands/run_files/function_places.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "arch/aarch64/sleds.h"
#include "arch/x86_64/sleds.h"
#include "core/bytes.h"
#include "symbols/code_selection.h"
#include "symbols/left_places.h"
#include "symbols/symbol_table.h"
#include "symbols/xray_map.h"

namespace sp::run_files {
namespace {

using core::Via;

constexpr std::uint64_t kLandingPad = 4;  // endbr64, bti c

constexpr std::string_view kMcounts = " mcount _mcount __fentry__ ";
constexpr std::string_view kCyg = " __cyg_profile_func_enter __cyg_profile_func_exit ";

bool is_among(std::string_view names, std::string_view name) {
  name = name.substr(0, name.find('@'));  // without a version
  return !name.empty() && names.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

bool has_places(const symbols::LeftPlaces& places, Via via) {
  switch (via) {
    case Via::any:
      return true;
    case Via::xray:
      return places.has_xray;
    case Via::patchable:
      return !places.patchable.empty();
    case Via::fentry:
      return places.calls_mcount || places.calls_fentry || !places.recorded_calls.empty();
    case Via::cyg:
      break;
  }
  return places.calls_cyg;
}

std::string_view compiler_option(Via via) {
  switch (via) {
    case Via::patchable:
      return "-fpatchable-function-entry=2";
    case Via::fentry:
      return "-pg or -pg -mfentry";
    case Via::cyg:
      return "-finstrument-functions";
    default:
      return "clang -fxray-instrument";
  }
}

bool is_of_file(const core::XrayIds& ids, const std::string& path) {
  return ids.module.empty() || symbols::is_wanted_module({ids.module}, path, false);
}

/// NOPs lead from there to the function, as -fpatchable-function-entry=N,M leaves M in front of
/// one.
bool nops_lead_to(const core::ElfImage& image, std::uint64_t from, std::uint64_t function) {
  const auto code = core::cut(image.bytes_at(from), 0, function - from);
  const std::size_t nops = image.machine() == EM_AARCH64 ? arch::aarch64::nop_bytes(code)
                                                         : arch::x86_64::nop_bytes(code);
  return code.size() == function - from && nops >= code.size();
}

/// The begins of the functions that have a place at one of `places`.
std::set<std::uint64_t> functions_at(const core::ElfImage& image,
                                     std::span<const std::uint64_t> places,
                                     std::span<const core::CandidateFunction> functions) {
  std::set<std::uint64_t> begins;
  for (const std::uint64_t place : places) {
    const auto behind = std::upper_bound(
        functions.begin(), functions.end(), place,
        [](std::uint64_t at, const core::CandidateFunction& one) { return at < one.begin; });
    const auto* const around = behind == functions.begin() ? nullptr : &*std::prev(behind);
    const bool is_inside = around != nullptr && place < around->end;
    const bool is_first =
        is_inside && (place == around->begin || place == around->begin + kLandingPad);
    if (!is_first && behind != functions.end() && nops_lead_to(image, place, behind->begin)) {
      begins.insert(behind->begin);
    } else if (is_inside) {
      begins.insert(around->begin);
    }
  }
  return begins;
}

}  // namespace

FunctionPlaces::FunctionPlaces(Via via, const std::shared_ptr<const core::ElfImage>& image,
                               const std::vector<symbols::ElfSections>& sources,
                               std::span<const core::CandidateFunction> functions)
    : via_(via) {
  if (const auto map = symbols::read_xray_map(image); map && *map) {
    for (const core::Sled& sled : (*map)->sleds) {
      Xray& xray = xray_[sled.function];
      xray.id = xray.id == 0 ? sled.function_id : xray.id;
      xray.always = xray.always || sled.always;
      xray.logs_first_argument =
          xray.logs_first_argument || sled.kind == core::SledKind::entry_with_argument;
      if (sled.kind == core::SledKind::custom_event || sled.kind == core::SledKind::typed_event) {
        xray.events.push_back(sled);
      }
    }
  }
  const bool is_listed = via == Via::patchable || via == Via::fentry;
  if (const auto places = is_listed ? symbols::find_left_places(image) : core::fail("")) {
    patchable_ = functions_at(*image, places->patchable, functions);
    recorded_ = functions_at(*image, places->recorded_calls, functions);
  }
  if (via == Via::fentry || via == Via::cyg) {
    stubs_.emplace(symbols::ElfSections(image));
    find_hooks(sources);
  }
}

/// Static programs, and those with hooks of their own.
void FunctionPlaces::find_hooks(const std::vector<symbols::ElfSections>& sources) {
  const symbols::SymbolTable symbols(sources);
  // In a static glibc the two hooks of -finstrument-functions are one function, under one name.
  for (const char* const name :
       {"mcount", "_mcount", "__fentry__", "__cyg_profile_func_enter", "__cyg_profile_func_exit"}) {
    if (const auto address = symbols.address_of(name)) {
      hooks_.emplace(*address, name);
    }
  }
}

bool FunctionPlaces::calls_one(const DecodedFunction& code, std::string_view hooks) const {
  const bool is_called = std::any_of(code.calls.begin(), code.calls.end(), [&](std::uint64_t to) {
    const auto own = hooks_.find(to);
    const auto stub = own == hooks_.end() ? stubs_->find(to) : std::nullopt;
    return (own != hooks_.end() && is_among(hooks, own->second)) ||
           (stub && is_among(hooks, stub->name));
  });
  return is_called ||
         std::any_of(code.call_slots.begin(), code.call_slots.end(), [&](std::uint64_t slot) {
           return is_among(hooks, stubs_->name_in_slot(slot));
         });
}

const FunctionPlaces::Xray* FunctionPlaces::xray_of(std::uint64_t begin) const {
  const auto found = xray_.find(begin);
  return found == xray_.end() ? nullptr : &found->second;
}

bool FunctionPlaces::has_place(std::uint64_t begin, const DecodedFunction* code) const {
  switch (via_) {
    case Via::any:
      return true;
    case Via::xray:
      return xray_.contains(begin);
    case Via::patchable:
      return patchable_.contains(begin);
    case Via::fentry:
      return recorded_.contains(begin) || (code != nullptr && calls_one(*code, kMcounts));
    case Via::cyg:
      break;
  }
  return code != nullptr && calls_one(*code, kCyg);
}

std::string_view place_name(Via via) {
  switch (via) {
    case Via::any:
      return "breakpoint";
    case Via::xray:
      return "xray";
    case Via::patchable:
      return "patchable";
    case Via::fentry:
      return "fentry";
    case Via::cyg:
      break;
  }
  return "cyg";
}

core::Result<void> check_places(const std::shared_ptr<const core::ElfImage>& image,
                                const std::string& path, const core::PlaceChoice& choice) {
  if (choice.is_any()) {
    return {};
  }
  const auto places = symbols::find_left_places(image);
  if (!places) {
    return core::fail(fmt::format("{}: {}", path, places.error().doing));
  }
  if (!has_places(*places, choice.via)) {
    const std::string others = symbols::describe(*places);
    return core::fail(fmt::format(
        "--via {}: {} has no such place; it has {}; compile it with {}, or leave out --via",
        place_name(choice.via), path,
        places->has_xray ? others.empty() ? "XRay sleds" : "XRay sleds, " + others
        : others.empty() ? "no place for instrumentation"
                         : others,
        compiler_option(choice.via)));
  }
  return choice.via == Via::xray ? check_ids(image, path, choice.xray_ids) : core::Result<void>{};
}

core::Result<void> check_ids(const std::shared_ptr<const core::ElfImage>& image,
                             const std::string& path, const std::vector<core::XrayIds>& ids) {
  const auto map = symbols::read_xray_map(image);
  if (!map || !*map) {
    return core::fail(fmt::format("{}: {}", path, map ? "no XRay map" : map.error().doing));
  }
  for (const core::XrayIds& one : ids) {
    if (one.module.empty() && one.last > (*map)->functions) {
      return core::fail(fmt::format(
          "--xray-id: {} has the ids 1 to {}, and not {}; superprofiler xray {} lists them", path,
          (*map)->functions, one.last, path));
    }
  }
  return {};
}

bool names_id(std::span<const core::XrayIds> ids, const std::string& path, std::uint32_t id) {
  return std::any_of(ids.begin(), ids.end(), [&](const core::XrayIds& one) {
    return one.first <= id && id <= one.last && is_of_file(one, path);
  });
}

}  // namespace sp::run_files
