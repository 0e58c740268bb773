#include "commands/run_files/finished_run.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "commands/run_files/recorded_run.h"
#include "commands/run_files/stack_file.h"
#include "commands/run_files/tsv_file.h"
#include "core/log.h"
#include "profiler/describe.h"
#include "profiler/source_place.h"

namespace sp::run_files {
namespace {

using core::fail;
using core::Result;
using nlohmann::json;

/// Values of missing keys, and of keys with a value of another type, are empty.
const json& at(const json& object, const char* key) {
  static const json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}
std::string text(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}
double real(const json& value) { return value.is_number() ? value.get<double>() : 0; }
std::uint64_t whole(const json& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::string command_line(const json& words) {
  std::vector<std::string> command;
  for (const json& word : words) {
    command.push_back(text(word));
  }
  return profiler::command_text(command);
}

/// "2026-11-25T02:28:16.128Z" as nanoseconds since 1970; 0 if it is not that.
std::int64_t nanoseconds_of(const std::string& time) {
  std::tm parts{};
  const char* rest = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S.", &parts);
  const auto milliseconds =
      rest == nullptr ? std::nullopt : parse_number(std::string_view(rest).substr(0, 3));
  return milliseconds
             ? (std::int64_t{::timegm(&parts)} * 1000 + static_cast<std::int64_t>(*milliseconds)) *
                   1'000'000
             : 0;
}

/// If `options`, a superprofiler's command line, have -a: no probe was removed for being hot.
bool keeps_probes(const json& options) {
  for (const json& option : options) {
    const std::string word = text(option);
    if (word == "--") {
      return false;
    }
    const bool is_flags = word.size() > 1 && word[0] == '-' &&
                          word.find_first_not_of("ansqv", 1) == std::string::npos;
    if (word == "--allow-bottlenecking" || (is_flags && word.find('a') != std::string::npos)) {
      return true;
    }
  }
  return false;
}

profiler::RecordedModule module_of(const json& module) {
  profiler::RecordedModule recorded{text(at(module, "path")), text(at(module, "kind")),
                                    text(at(module, "build_id")), 0};
  recorded.base = parse_number(text(at(module, "base"))).value_or(0);
  return recorded;
}

/// Gives the name of its directory to a run that has none.
Result<profiler::RecordedRun> with_names(Result<profiler::RecordedRun> run,
                                         const std::string& directory) {
  if (run && run->name.empty()) {
    run->name = std::filesystem::path(directory).lexically_normal().filename().string();
  }
  if (run && run->command.empty()) {
    run->command = run->name;
  }
  return run;
}

}  // namespace

Result<profiler::RecordedRun> read_run(const std::string& directory) {
  if (is_only_recorded(directory, "run.json")) {
    return with_names(recorded_run(directory), directory);
  }
  const std::string path = directory + "/run.json";
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(
        fmt::format("there is no run in {} (no {}); give the directory that a run has written: "
                    "output/PROGRAM-PID",
                    directory, path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return with_names(parse_run(text.str(), path), directory);
}

Result<profiler::RecordedRun> parse_run(const std::string& text_of_run, const std::string& path) {
  const json run = json::parse(text_of_run, nullptr, false);
  if (!run.is_object() || !at(run, "modules").is_array() || !at(run, "samples").is_object()) {
    return fail(path + " is damaged: it is not what superprofiler has written");
  }
  profiler::RecordedRun recorded;
  recorded.name = text(at(run, "name"));
  recorded.command = command_line(at(run, "command"));
  recorded.version = text(at(run, "superprofiler_version"));
  recorded.started_ns = nanoseconds_of(text(at(run, "started_at")));
  recorded.elapsed_seconds = real(at(run, "elapsed_seconds"));
  recorded.interval_us = real(at(at(run, "cost"), "mean_interval_us"));
  recorded.wall = text(at(at(run, "samples"), "clock")) == "wall";
  recorded.samples = whole(at(at(run, "samples"), "total"));
  recorded.with_stack = whole(at(at(run, "samples"), "with_stack"));
  recorded.cpu_ns = static_cast<std::uint64_t>(real(at(at(run, "cost"), "target_cpu_us")) * 1000);
  recorded.counts_kind = text(at(at(run, "counts"), "kind"));
  const json& command = at(run, "command");
  recorded.program = command.is_array() && !command.empty() ? text(command.front()) : "";
  recorded.on_cpu = whole(at(at(run, "samples"), "on_cpu"));
  recorded.counts_all = !recorded.counts_kind.empty() &&
                        (at(run, "probes").is_null() || keeps_probes(at(run, "options")));
  for (const json& module : at(run, "modules")) {
    recorded.modules.push_back(module_of(module));
  }
  return recorded;
}

Result<std::vector<profiler::RecordedFunction>> read_functions(const std::string& directory,
                                                               std::vector<std::string>& notes) {
  auto file = TsvFile::open(
      directory + "/functions.tsv",
      {"module", "function", "source", "self_samples", "total_samples", "calls", "calls_kind"});
  if (!file) {
    return tl::unexpected(file.error());
  }
  std::vector<profiler::RecordedFunction> functions;
  while (file->next()) {
    const profiler::SourcePlace source = profiler::source_place(file->text(2));
    const auto self = file->number(3);
    const auto total = file->number(4);
    if (!self || !total || (!file->raw(5).empty() && !file->number(5))) {
      file->reject();
      break;
    }
    functions.push_back({file->text(1), file->text(0), source.file, source.line, *self, *total,
                         file->number(5), file->text(6)});
  }
  if (!file->damage().empty()) {
    notes.push_back(file->damage());
  }
  return functions;
}

Result<std::unique_ptr<RunStacks>> read_stacks(const std::string& directory,
                                               std::vector<std::string>& notes) {
  if (is_only_recorded(directory, "stacks.folded") ||
      is_only_recorded(directory, "functions.tsv")) {
    return recorded_stacks(directory);
  }
  auto functions = read_functions(directory, notes);
  if (!functions) {
    return tl::unexpected(functions.error());
  }
  auto file = StackFile::open(directory + "/stacks.folded", std::move(*functions));
  if (!file) {
    return tl::unexpected(file.error());
  }
  return std::move(*file);
}

Result<std::string> named_or_newest_run(const std::string& named) {
  return named.empty() ? newest_run("output") : Result<std::string>(named);
}

void print_notes(std::vector<std::string> notes, const RunStacks& stacks, std::string_view output) {
  if (!stacks.damage().empty() &&
      std::find(notes.begin(), notes.end(), stacks.damage()) == notes.end()) {
    notes.push_back(stacks.damage());
  }
  print_notes(notes, output);
}

void print_notes(const std::vector<std::string>& notes, std::string_view output) {
  for (const std::string& note : notes) {
    const bool is_damage = note.find(" is damaged ") != std::string::npos ||
                           note.find(" is cut at ") != std::string::npos;
    core::print_note(is_damage ? fmt::format("{}; what stands before that is in {}", note, output)
                               : note);
  }
}

std::string directory_of(const std::string& run) {
  std::error_code error;
  const std::filesystem::path path(run);
  if (!std::filesystem::is_regular_file(path, error)) {
    return run;
  }
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

Result<std::string> newest_run(const std::string& parent) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string newest;
  fs::file_time_type written{};
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    for (const char* const file : {"run.json", "recording.sp", "trace.sp"}) {
      std::error_code none;
      const auto time = fs::last_write_time(entry->path() / file, none);
      if (!none && (newest.empty() || time > written)) {
        newest = entry->path().string();
        written = time;
      }
    }
  }
  if (newest.empty()) {
    return fail(
        fmt::format("there is no run in {}/; give the directory of one, or record one: "
                    "superprofiler -- CMD",
                    parent));
  }
  return newest;
}

}  // namespace sp::run_files
