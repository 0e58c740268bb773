#include "profiler/file_descriptions.h"

#include <algorithm>
#include <array>

namespace sp::profiler {
namespace {

struct FileDescription {
  std::string_view name;
  std::string_view what;
};

constexpr auto kFileDescriptions = std::to_array<FileDescription>({
    {"run.json", "what was run and how, what it cost, what is missing"},
    {"functions.tsv", "functions with their samples and calls"},
    {"stacks.folded", "sampled stacks: flamegraph.pl, inferno, speedscope"},
    {"flamegraph.svg", "sampled stacks as a flame graph: a browser"},
    {"blocks.tsv", "basic blocks with their executions"},
    {"edges.tsv", "branches and calls with their executions"},
    {"recording.sp", "everything that was sampled and counted: convert, report, diff"},
    {"trace.sp", "every traced call with its times: report --trace, convert -f perfetto"},
    {"symbols.tsv", "all functions, and which were traced and why"},
    {"tree.json", "calls and samples by calling context"},
    {"coverage.tsv", "what code was reached"},
    {"coverage.info", "lines that were reached: genhtml, CI systems"},
    {"cobertura.xml", "lines that were reached: CI systems"},
    {"learned.toml", "functions that are too hot to be traced, for --filters"},
    {"crash.json", "stacks and registers of a crash"},
    {"copies.map", "where functions ran from copies"},
    {"report.html", "the run as a page"},
});

}  // namespace

std::string_view describe_file(std::string_view name) {
  const auto known = std::find_if(kFileDescriptions.begin(), kFileDescriptions.end(),
                                  [name](const auto& one) { return one.name == name; });
  if (known != kFileDescriptions.end()) {
    return known->what;
  }
  return name.starts_with("crash") ? "stacks and registers of a crash"
                                   : "made of this run by a subcommand";
}

}  // namespace sp::profiler
