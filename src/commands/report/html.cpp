#include "commands/report/html.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>

#include "commands/report/html_input.h"
#include "commands/report/html_listings.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/output_file.h"
#include "commands/run_files/run_head.h"
#include "commands/run_files/trace_file.h"
#include "core/log.h"
#include "profiler/describe.h"
#include "profiler/html/html_report.h"
#include "profiler/text.h"

namespace sp::report {
namespace {

constexpr int kIsTerminal = 2;
constexpr int kCannotWrite = 125;

/// What the run has beside what the page shows.
void note_other_files(const std::string& run, std::vector<std::string>& notes) {
  if (!run_files::trace_path(run).empty()) {
    notes.push_back(
        "The run has a trace: superprofiler report --trace shows its calls with their times, "
        "superprofiler convert -f perfetto puts them on a time line.");
  }
  const std::string directory = run_files::directory_of(run);
  for (const auto& [file, text] :
       {std::pair<std::string_view, std::string_view>{
            "tree.json",
            "The run has tree.json: how often each function was called in which context."},
        {"coverage.tsv",
         "The run has coverage.tsv: superprofiler coverage shows which functions and lines were "
         "reached."}}) {
    if (::access(fmt::format("{}/{}", directory, file).c_str(), R_OK) == 0) {
      notes.emplace_back(text);
    }
  }
}

/// Says of each part that the run does not have why.
void name_absent(profiler::HtmlReport& report) {
  const profiler::RecordedRun& run = *report.run;
  report.no_stacks =
      run.samples == 0
          ? "Nothing was sampled in this run, so there are no stacks: the tables have the counts."
          : "No sample of this run has a stack; the functions table has the samples.";
  report.no_code =
      "No blocks were counted in this run. Recording without -n, or with --single, counts them.";
  report.no_timeline =
      run.samples == 0 ? "Nothing was sampled in this run, so there is no time line."
      : report.timeline == nullptr
          ? "There is no readable recording.sp beside the run's other files, so the time of each "
            "sample is not known."
          : "No sample was recorded with its time.";
  report.no_listings =
      "No code can be shown: no function has samples or counts, or the programs' files cannot be "
      "read here.";
}

int refuse(const core::Error& error, int status = kCannotWrite) {
  core::print_error(error.message());
  return status;
}

}  // namespace

int report_html(const cli::ReportOptions& options, const std::string& run) {
  if (options.output == "-" && ::isatty(STDOUT_FILENO) == 1) {
    return refuse({"the report is a page for a browser, and stdout is a terminal; write a file: "
                   "superprofiler report --html -o FILE"},
                  kIsTerminal);
  }
  auto input = read_html_input(run);
  if (!input) {
    return refuse(input.error());
  }
  run_files::RunHead head = run_files::read_head(run);
  std::vector<std::string> damage = input->notes;
  if (!input->stacks->damage().empty()) {
    damage.push_back(input->stacks->damage());
  }
  note_other_files(run, head.notes);
  Listings listings = read_listings(*input, options.debug_dirs);
  for (const std::vector<std::string>* const more : {&listings.notes, &damage}) {
    head.notes.insert(head.notes.end(), more->begin(), more->end());
  }
  head.facts.push_back(
      {"Code", fmt::format("of the {} hottest functions, as far as it can be read", kMostListings),
       ""});
  std::optional<profiler::ReportTimeline> timeline;
  if (input->recorded != nullptr) {
    timeline = read_timeline(*input->recorded);
  }
  profiler::HtmlReport report;
  report.run = &input->run;
  report.stacks = input->stacks.get();
  report.code = input->code ? &*input->code : nullptr;
  report.timeline = timeline ? &*timeline : nullptr;
  for (std::uint32_t i = 0; i < input->stacks->functions().size(); ++i) {
    report.markers.push_back(!input->stacks->may_be_row(i));
  }
  report.facts = std::move(head.facts);
  report.notes = std::move(head.notes);
  report.listings = std::move(listings.listings);
  name_absent(report);
  const std::string path =
      options.output.empty() ? run_files::directory_of(run) + "/report.html" : options.output;
  const auto written = run_files::write_output(
      path, [&](std::ostream& out) { profiler::write_html_report(out, report); });
  if (!written) {
    return refuse(written.error());
  }
  run_files::print_notes(damage, "the page");
  if (path != "-") {
    core::print_note(fmt::format("HTML report: {}; {} bytes", input->run.sampling(),
                                 profiler::grouped(*written)));
    core::print_note("next: xdg-open " + profiler::command_text({path}));
  }
  return 0;
}

}  // namespace sp::report
