#include "commands/record/control_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/values.h"
#include "commands/record/prune.h"
#include "core/edit_distance.h"
#include "profiler/file_descriptions.h"
#include "profiler/formats/compact_json.h"

namespace sp::record {
namespace {

using core::TraceAction;
using profiler::CompactJson;

/// How long an answer waits for processes that no stop reaches, such as stopped ones.
constexpr core::Duration kLongestWait = std::chrono::seconds(2);
constexpr auto kCommands =
    std::to_array<std::string_view>({"on", "off", "status", "flush", "clear", "files", "prune AGE",
                                     "config", "emit", "patch ID..", "unpatch ID..", "stop"});

std::string refusal(std::string_view why, bool names_commands = false) {
  std::string out;
  CompactJson json(out);
  json.open('{');
  json.key("ok").boolean(false);
  json.key("error").string(why);
  if (names_commands) {
    json.key("commands").open('[');
    for (const std::string_view command : kCommands) {
      json.string(command);
    }
    json.close(']');
  }
  json.close('}');
  return out;
}

ControlServer::Answer at_once(std::string text) {
  return [text = std::move(text)] { return std::optional(text); };
}

std::string unknown(std::string_view command) {
  std::string_view nearest;
  std::size_t least = 3;
  for (const std::string_view known : kCommands) {
    const std::size_t distance = core::edit_distance(command, known.substr(0, known.find(' ')));
    if (distance < least) {
      least = distance;
      nearest = known;
    }
  }
  std::string why = "there is no command '" + std::string(command.substr(0, 100)) + "'";
  why += nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
  return refusal(why, true);
}

std::optional<TraceAction> action_of(std::string_view command) {
  return command == "on"        ? std::optional(TraceAction::on)
         : command == "off"     ? std::optional(TraceAction::off)
         : command == "flush"   ? std::optional(TraceAction::flush)
         : command == "emit"    ? std::optional(TraceAction::flush)  // what a tree is asked for
         : command == "clear"   ? std::optional(TraceAction::clear)
         : command == "stop"    ? std::optional(TraceAction::stop)
         : command == "patch"   ? std::optional(TraceAction::patch)
         : command == "unpatch" ? std::optional(TraceAction::unpatch)
                                : std::nullopt;
}

std::string_view word_of(core::WhenFull when) {
  switch (when) {
    case core::WhenFull::flush:
      return "flush";
    case core::WhenFull::keep:
      return "keep";
    case core::WhenFull::discard:
      break;
  }
  return "discard";
}

void put_strings(CompactJson& json, const std::vector<std::string>& texts) {
  json.open('[');
  for (const std::string& text : texts) {
    json.string(text);
  }
  json.close(']');
}

}  // namespace

ControlCommands::ControlCommands(Run run) : run_(std::move(run)) {
  parent_ = std::filesystem::path(run_.directory()).parent_path().string();
}

void ControlCommands::note_written(const core::TraceRequest& request, std::uint64_t cleared) {
  cleared_ += cleared;
  written_ = std::max(written_.load(), request.ticket);
}

ControlServer::Answer ControlCommands::begin(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
    line.remove_suffix(1);
  }
  const std::string_view command = line.substr(0, line.find(' '));
  const std::string_view argument = line.substr(std::min(line.size(), command.size() + 1));
  if (command == "prune") {
    return at_once(prune(argument));
  }
  const auto action = action_of(command);
  const bool is_query = command == "status" || command == "config" || command == "files";
  if (!action && !is_query) {
    return at_once(unknown(command));
  }
  if (action == TraceAction::patch || action == TraceAction::unpatch) {
    return patch(*action, argument);
  }
  if (!argument.empty()) {
    return at_once(refusal(std::string(command) + " takes no argument"));
  }
  if (is_query) {
    return at_once(command == "status" ? status() : command == "config" ? config() : files());
  }
  if (command == "emit" && !(run_.options.tree && run_.options.tree->emit)) {
    return at_once(refusal("emit is for --tree with --emit"));
  }
  if (action == TraceAction::clear && !run_.options.trace) {
    return at_once(refusal("clear is for --trace; a tree is what was summed since the start"));
  }
  return ask(*action);
}

ControlServer::Answer ControlCommands::patch(TraceAction action, std::string_view ids) {
  const std::string_view command = action == TraceAction::patch ? "patch" : "unpatch";
  if (!run_.options.trace) {
    return at_once(refusal(std::string(command) + " is for --trace"));
  }
  std::string list(ids);
  std::replace(list.begin(), list.end(), ' ', ',');
  const auto read = cli::parse_xray_ids(list);
  if (!read) {
    return at_once(refusal(std::string(command) + ": " + read.error().doing));
  }
  auto functions = run_.patch(*read, action == TraceAction::patch);
  return functions ? ask(action, *std::move(functions)) : at_once(refusal(functions.error().doing));
}

ControlServer::Answer ControlCommands::ask(TraceAction action,
                                           std::vector<std::uint64_t> functions) {
  const std::size_t named = functions.size();
  const std::uint64_t ticket = ++ticket_;
  const core::TimePoint until = core::Clock::now() + kLongestWait;
  run_.requests.ask({action, ticket, std::move(functions)});
  return [this, action, ticket, until, named]() -> std::optional<std::string> {
    const bool is_written =
        action == TraceAction::flush || action == TraceAction::clear ? written_ >= ticket : true;
    // waiting() is of this request only once it is served.
    const bool is_served = run_.requests.served() >= ticket;
    const bool waits =
        action == TraceAction::on && run_.requests.waiting() > 0 && core::Clock::now() < until;
    if (!is_served || !is_written || waits) {
      return std::nullopt;
    }
    std::string answer = state();
    if (named > 0) {
      answer.pop_back();
      CompactJson json(answer);
      json.key("functions").number(static_cast<std::uint64_t>(named));
      json.close('}');
    }
    return answer;
  };
}

/// {"ok":true,"on":true}
std::string ControlCommands::state() const {
  std::string out;
  CompactJson json(out);
  json.open('{');
  json.key("ok").boolean(true);
  json.key("on").boolean(run_.requests.is_on());
  json.count("waiting_processes", run_.requests.waiting());
  json.count("given_up_processes", run_.requests.given_up());
  json.close('}');
  return out;
}

std::string ControlCommands::status() const {
  const core::RunFacts facts = run_.facts();
  std::string out = state();
  out.pop_back();
  CompactJson json(out);
  json.key("run").string(run_.directory());
  json.key("pid").integer(facts.pid);
  json.key("elapsed_us")
      .number(static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(facts.elapsed).count()));
  json.key("processes").number(facts.processes);
  json.key("threads").number(facts.threads);
  if (facts.trace) {
    const std::uint64_t cleared = std::min<std::uint64_t>(cleared_, facts.trace->events);
    json.key("events").number(facts.trace->events - cleared);
    json.key("lost").number(facts.trace->lost);
    json.key("cleared").number(facts.trace->cleared + cleared);
    json.key("times_off").number(facts.trace->times_off);
    json.key("functions_too_hot").number(facts.trace->too_hot);
    json.key("functions_overwritten").number(facts.trace->overwritten);
  }
  json.key("stops").number(facts.cost.stops);
  json.close('}');
  return out;
}

std::string ControlCommands::config() const {
  const cli::RecordOptions& options = run_.options;
  std::string out;
  CompactJson json(out);
  json.open('{');
  json.key("ok").boolean(true);
  json.key("mode").string(options.trace ? "trace" : "tree");
  json.key("options");
  put_strings(json, run_.facts().options);
  json.key("run").string(run_.directory());
  if (options.trace) {
    json.key("when_full").string(word_of(options.trace->when_full));
    json.key("buffer").number(options.trace->buffer);
    json.key("min_duration_ns")
        .number(static_cast<std::uint64_t>(options.trace->min_duration.count()));
    json.key("max_depth").number(options.trace->max_depth);
    json.key("trace_size").number(options.trace->most_bytes);
  }
  json.key("start_off").boolean(options.control.begins_off);
  json.key("triggers").open('[');
  for (const core::TraceTrigger& trigger : options.control.triggers) {
    json.string(trigger.text);
  }
  json.close(']');
  json.close('}');
  return out;
}

std::string ControlCommands::files() const {
  std::string out;
  CompactJson json(out);
  json.open('{');
  json.key("ok").boolean(true);
  json.key("run").string(run_.directory());
  json.key("files").open('[');
  std::error_code error;
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (const auto& entry : std::filesystem::directory_iterator(run_.directory(), error)) {
    const std::string name = entry.path().filename().string();
    const std::uintmax_t bytes = entry.file_size(error);
    if (!error && !name.starts_with('.')) {
      found.emplace_back(name, bytes);
    }
  }
  std::sort(found.begin(), found.end());
  for (const auto& [name, bytes] : found) {
    json.open('{');
    json.key("name").string(name);
    json.key("bytes").number(bytes);
    json.key("what").string(profiler::describe_file(name));
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return out;
}

std::string ControlCommands::prune(std::string_view age) const {
  const auto time = cli::parse_duration("prune", age, cli::Unit::seconds);
  if (!time) {
    return refusal(time.error().message());
  }
  const Pruned pruned = prune_runs(parent_, run_.directory(), *time);
  std::string out;
  CompactJson json(out);
  json.open('{');
  json.key("ok").boolean(pruned.errors.empty());
  if (!pruned.errors.empty()) {
    json.key("error").string(pruned.errors.front());
  }
  json.key("directory").string(parent_);
  json.key("removed");
  put_strings(json, pruned.removed);
  json.key("bytes").number(pruned.bytes);
  json.close('}');
  return out;
}

}  // namespace sp::record
