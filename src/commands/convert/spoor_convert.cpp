#include "commands/convert/spoor_convert.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "commands/convert/trace_convert.h"
#include "core/fd.h"
#include "core/log.h"
#include "profiler/growing_file.h"
#include "profiler/spoor/spoor_trace.h"
#include "profiler/text.h"

namespace sp::convert {
namespace {

namespace fs = std::filesystem;
using core::Result;

constexpr int kSpoorFailure = 125;
constexpr std::string_view kTraceSuffix = ".spoor_trace";
constexpr std::string_view kSymbolsSuffix = ".spoor_symbols";

struct SpoorPaths {
  std::vector<std::string> traces;
  std::vector<std::string> symbols;
};

bool begins_as_spoor_trace(const std::string& path) {
  std::array<char, profiler::kSpoorHeaderSize> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return profiler::is_spoor_trace(std::as_bytes(std::span(bytes)));
}

/// Adds what is under a folder.
void search(const std::string& folder, SpoorPaths& paths) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    if (path.ends_with(kTraceSuffix)) {
      paths.traces.push_back(path);
    } else if (path.ends_with(kSymbolsSuffix)) {
      paths.symbols.push_back(path);
    }
  }
}

/// Files that are named are taken as they are.
void find_files(const std::vector<std::string>& named, SpoorPaths& paths) {
  for (const std::string& path : named) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      search(path, paths);
    } else if (path.ends_with(kSymbolsSuffix)) {
      paths.symbols.push_back(path);
    } else {
      paths.traces.push_back(path);
    }
  }
  for (std::vector<std::string>* const list : {&paths.traces, &paths.symbols}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

std::vector<std::string> named_files(const cli::ConvertOptions& options) {
  std::vector<std::string> named = {options.run};
  named.insert(named.end(), options.more.begin(), options.more.end());
  return named;
}

Result<std::vector<char>> read_bytes(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return core::fail("opening " + path, error ? error.value() : ENOENT);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return core::fail_errno("opening " + path);
  }
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) {
    return core::fail("reading " + path, EIO);
  }
  return bytes;
}

Result<profiler::SpoorFile> read_trace(const std::string& path) {
  const auto bytes = read_bytes(path);
  if (!bytes) {
    return tl::unexpected(bytes.error());
  }
  return profiler::read_spoor_file(std::as_bytes(std::span(*bytes)), path);
}

Result<profiler::SpoorSymbols> read_all_symbols(const std::vector<std::string>& paths,
                                                std::vector<std::string>& notes) {
  profiler::SpoorSymbols symbols;
  for (const std::string& path : paths) {
    const auto bytes = read_bytes(path);
    if (!bytes) {
      return tl::unexpected(bytes.error());
    }
    if (std::string damage = symbols.add({bytes->data(), bytes->size()}, path); !damage.empty()) {
      notes.push_back(std::move(damage));
    }
  }
  return symbols;
}

struct JoinedTrace {
  run_files::TraceFile file;
  profiler::SpoorSums sums;
};

/// In a file that has no name any more.
Result<JoinedTrace> join(const std::vector<std::string>& paths,
                         const profiler::SpoorSymbols& symbols) {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "superprofiler.XXXXXX").string();
  core::UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) {
    return core::fail_errno("creating a temporary file " + path);
  }
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  ::unlink(path.c_str());
  profiler::GrowingFile sink(std::move(fd), path);
  auto sums = profiler::write_spoor_trace(sink, paths, read_trace, symbols);
  if (!sums) {
    return tl::unexpected(sums.error());
  }
  auto reader = profiler::TraceReader::open(*stream, path);
  if (!reader) {
    return tl::unexpected(reader.error());
  }
  return JoinedTrace{{path, std::move(stream), std::move(*reader)}, std::move(*sums)};
}

void note_sums(const profiler::SpoorSums& sums, std::vector<std::string>& notes) {
  using profiler::grouped;
  notes.push_back(fmt::format("{} of Spoor's files, {} threads, {} functions", grouped(sums.files),
                              grouped(sums.threads), grouped(sums.functions)));
  if (sums.runs > 1) {
    notes.push_back(
        fmt::format("they are of {} runs: each is a process of its own", grouped(sums.runs)));
  }
  if (sums.without_name > 0) {
    notes.push_back(fmt::format(
        "{} functions have no names; give the .spoor_symbols of the build with --symbols FILE",
        grouped(sums.without_name)));
  }
  notes.insert(notes.end(), sums.damage.begin(), sums.damage.end());
}

int fail_spoor(const core::Error& error) {
  core::print_error(error.message());
  return kSpoorFailure;
}

std::string folder_of(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return path;
  }
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

bool is_of_spoor(const cli::ConvertOptions& options) {
  const std::string& first = options.run;
  std::error_code error;
  if (first.empty() || fs::exists(first + "/run.json", error) ||
      fs::exists(first + "/trace.sp", error) || fs::exists(first + "/recording.sp", error)) {
    return false;
  }
  if (!fs::is_directory(first, error)) {
    return first.ends_with(kTraceSuffix) || first.ends_with(kSymbolsSuffix) ||
           begins_as_spoor_trace(first);
  }
  SpoorPaths paths;
  search(first, paths);
  return !paths.traces.empty();
}

int convert_spoor(const cli::ConvertOptions& options, const Format& format) {
  if (!has_traces(format)) {
    return fail_spoor({fmt::format(
        "{} is of Spoor's, so nothing for {}; its formats: perfetto, chrome, speedscope, xray",
        options.run, format.name)});
  }
  SpoorPaths paths;
  paths.symbols = options.symbols;
  find_files(named_files(options), paths);
  if (paths.traces.empty()) {
    return fail_spoor({fmt::format("there is no trace of Spoor's (.spoor_trace) in {}; name one",
                                   fmt::join(named_files(options), ", "))});
  }
  std::vector<std::string> notes;
  const auto symbols = read_all_symbols(paths.symbols, notes);
  if (!symbols) {
    return fail_spoor(symbols.error());
  }
  auto joined = join(paths.traces, *symbols);
  if (!joined) {
    return fail_spoor(joined.error());
  }
  note_sums(joined->sums, notes);
  return convert_open_trace(options, format, std::move(joined->file), folder_of(options.run),
                            fmt::format("{:016x}", joined->sums.run_id), std::move(notes));
}

}  // namespace sp::convert
