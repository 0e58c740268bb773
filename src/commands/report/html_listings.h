#pragma once

#include <string>
#include <vector>

#include "commands/report/html_input.h"
#include "profiler/html/html_report.h"

namespace sp::report {

/// How many functions a page has the code of.
constexpr std::size_t kMostListings = 20;

struct Listings {
  std::vector<profiler::ReportListing> listings;
  std::vector<std::string> notes;  // what cannot be shown, for the page
};

/// The code of the hottest functions, as far as their files can be read.
[[nodiscard]] Listings read_listings(HtmlInput& input, const std::vector<std::string>& debug_dirs);

}  // namespace sp::report
