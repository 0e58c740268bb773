#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;
using core::Via;

constexpr std::array<std::pair<std::string_view, Via>, 7> kVias{{{"auto", Via::any},
                                                                 {"copy", Via::any},
                                                                 {"int3", Via::any},
                                                                 {"xray", Via::xray},
                                                                 {"patchable", Via::patchable},
                                                                 {"fentry", Via::fentry},
                                                                 {"cyg", Via::cyg}}};

std::optional<std::uint32_t> read_id(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_id = error == std::errc() && end == text.data() + text.size() && id != 0;
  return is_id ? std::optional(id) : std::nullopt;
}

}  // namespace

Result<std::vector<core::XrayIds>> parse_xray_ids(std::string_view text) {
  std::vector<core::XrayIds> all;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t colon = word.rfind(':');
    const bool has_module = colon != std::string_view::npos;
    const std::string_view range = has_module ? word.substr(colon + 1) : word;
    const std::size_t dash = range.find('-');
    const auto first = read_id(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : read_id(range.substr(dash + 1));
    if (!first || !last || *last < *first || (has_module && colon == 0)) {
      return fail(
          fmt::format("'{}' is no XRay id; write ids from 1, as in 1,3-5 or libx.so:7", word));
    }
    all.push_back({std::string(has_module ? word.substr(0, colon) : ""), *first, *last});
  }
  if (all.empty()) {
    return fail("there is no XRay id; write ids from 1, as in 1,3-5 or libx.so:7");
  }
  return all;
}

Result<core::PlaceChoice> read_places(const Arguments& given) {
  core::PlaceChoice choice;
  const auto via = given.last("via");
  if (via) {
    if (auto known = check_choice("via", *via); !known) {
      return tl::unexpected(known.error());
    }
    choice.via = std::find_if(kVias.begin(), kVias.end(), [&](const auto& one) {
                   return one.first == *via;
                 })->second;
    choice.in_copies = *via == "copy"   ? core::TracedInCopies::all
                       : *via == "int3" ? core::TracedInCopies::none
                                        : core::TracedInCopies::hot;
  }
  for (const std::string& text : given.all("xray-id")) {
    auto ids = parse_xray_ids(text);
    if (!ids) {
      return fail("--xray-id: " + ids.error().doing);
    }
    choice.xray_ids.insert(choice.xray_ids.end(), ids->begin(), ids->end());
  }
  if (!choice.xray_ids.empty() && via && choice.via != Via::xray) {
    return fail(
        fmt::format("--xray-id chooses functions with XRay sleds; leave out --via {}, or "
                    "write --via xray",
                    *via));
  }
  if (!choice.xray_ids.empty()) {
    choice.via = Via::xray;
  }
  return choice;
}

}  // namespace sp::cli
