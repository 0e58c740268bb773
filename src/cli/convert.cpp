#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/read.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

/// The format that a file's name tells; "" for none.
std::string_view format_of(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.starts_with("callgrind.out")) {
    return "callgrind";
  }
  if (name.starts_with("callgrind.lines")) {
    return "callgrind-lines";
  }
  constexpr auto kSuffixes = std::to_array<std::pair<std::string_view, std::string_view>>({
      {".speedscope.json", "speedscope"},
      {".pb.gz", "pprof"},
      {".pprof", "pprof"},
      {".folded", "folded"},
      {".svg", "svg"},
      {".csv", "csv"},
      {".fdata", "bolt"},
      {".afdo", "autofdo"},
      {".perf.txt", "perf-script"},
      {".firefox.json.gz", "firefox"},
      {".trace.json", "chrome"},
      {".perfetto-trace", "perfetto"},
      {".info", "lcov"},
      {".xml", "cobertura"},
      {".drcov", "drcov"},
      {".xray", "xray"},
  });
  for (const auto& [suffix, format] : kSuffixes) {
    if (name.ends_with(suffix)) {
      return format;
    }
  }
  return "";
}

/// The run, and if there are several words files of Spoor's.
Result<void> read_inputs(const Arguments& given, ConvertOptions& options) {
  std::vector<std::string> words = given.words();
  if (const auto& after = given.after_dashes()) {
    words.insert(words.end(), after->begin(), after->end());
  }
  options.symbols = given.all("symbols");
  for (const std::vector<std::string>* const names : {&words, &options.symbols}) {
    if (std::find(names->begin(), names->end(), "") != names->end()) {
      return fail(names == &words
                      ? "convert: the name of the run is empty; leave it out or give one"
                      : "--symbols: the name of the file is empty; leave it out or give one");
    }
  }
  if (!options.symbols.empty() && words.empty()) {
    return fail(
        "--symbols is for Spoor's files; name them: superprofiler convert DIR --symbols FILE -f "
        "perfetto");
  }
  if (!words.empty()) {
    options.run = words.front();
    options.more.assign(words.begin() + 1, words.end());
  }
  return {};
}

}  // namespace

Result<ConvertOptions> read_convert(const Arguments& given) {
  ConvertOptions options;
  if (const auto read = read_inputs(given, options); !read) {
    return tl::unexpected(read.error());
  }
  options.output = given.last("output").value_or("");
  if (given.has("output") && options.output.empty()) {
    return fail("convert: the name of the file is empty; leave it out or give one");
  }
  options.module = given.last("module").value_or("");
  options.format = given.last("format").value_or(std::string(format_of(options.output)));
  if (options.format.empty() && !given.has("format")) {
    return fail(
        "convert needs a format: superprofiler convert RUN -f FORMAT; superprofiler convert "
        "--help lists them");
  }
  if (auto known = check_choice("format", options.format); !known) {
    return tl::unexpected(known.error());
  }
  constexpr auto kOfTraces =
      std::to_array<std::string_view>({"perfetto", "chrome", "speedscope", "xray"});
  const bool is_of_traces =
      std::find(kOfTraces.begin(), kOfTraces.end(), options.format) != kOfTraces.end();
  if (!options.more.empty() && !is_of_traces) {
    return fail(
        fmt::format("convert takes one run, {} are given: superprofiler convert output/NAME -f "
                    "FORMAT",
                    options.more.size() + 1));
  }
  if (given.has("module") && options.format != "bolt" && options.format != "autofdo") {
    return fail(
        fmt::format("--module is for -f bolt and autofdo; {} has all modules", options.format));
  }
  auto cuts = read_trace_cuts(given);
  if (!cuts) {
    return tl::unexpected(cuts.error());
  }
  options.cuts = *cuts;
  if (options.format == "xray" && options.output == "-") {
    return fail("xray writes two files, FILE and FILE.yaml; name one with -o FILE");
  }
  if (const auto read = read_source_places(given, options.source_maps, options.debug_dirs); !read) {
    return tl::unexpected(read.error());
  }
  return options;
}

}  // namespace sp::cli
