#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/recorded_run.h"

namespace sp::profiler {

/// A line of the page's head.
struct ReportFact {
  std::string label;
  std::string value;
  std::string kind;  // of its number: "exact", "sampled", "measured"; "" if it is none
};

struct ReportThread {
  std::string name;
  std::int64_t tid = 0;  // 0: stands for several
  std::int64_t pid = 0;
};

struct ReportSample {
  std::int64_t time_ns = 0;  // since the run's start
  std::uint64_t weight = 0;  // samples
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;  // 1: the first of the StackSource; 0: it has none
  bool blocked = false;
};

struct ReportTimeline {
  std::vector<ReportThread> threads;
  std::vector<ReportSample> samples;  // by time
  std::uint64_t stride = 1;           // every how manyth sample of the run these are
};

struct ReportInstruction {
  std::uint64_t address = 0;
  std::string text;
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> hits{};  // of the block that begins there
  bool executed = false;                // in a block with hits
  std::optional<std::uint32_t> file{};  // of the listing's
  std::uint64_t line = 0;
  std::string kind{};  // of the hits, if it is not that of the listing
};

/// The code of a function.
struct ReportListing {
  struct Source {
    std::uint32_t file = 0;
    std::map<std::uint64_t, std::string> lines;  // by their numbers
  };
  std::uint32_t function = 0;  // of StackSource::functions()
  std::string about;           // what its numbers are, and what is missing
  std::vector<std::string> files;
  std::vector<Source> sources;  // of the files that could be read
  std::vector<ReportInstruction> instructions;
};

/// What a report is written of.
struct HtmlReport {
  const RecordedRun* run = nullptr;
  StackSource* stacks = nullptr;
  const RecordedCode* code = nullptr;        // null if nothing was counted
  const ReportTimeline* timeline = nullptr;  // null if there is no recording
  /// By function of `stacks`: it is a marker, not a row of functions.tsv. Empty: by their modules.
  std::vector<bool> markers{};
  std::vector<ReportFact> facts;
  std::vector<std::string> notes;
  std::vector<ReportListing> listings;  // the hottest first
  /// Why a part is not there, for the user.
  std::string no_stacks;
  std::string no_code;
  std::string no_timeline;
  std::string no_listings;
};

/// How many blocks and how many edges a report has: the most executed ones.
constexpr std::size_t kMostReportedCounts = 100'000;

/// report.html: one file that needs no other. Reads the stacks once; beside them it holds nothing
/// that grows with the run. Numbers beyond 2^53 are texts in it.
void write_html_report(std::ostream& out, const HtmlReport& report);

}  // namespace sp::profiler
