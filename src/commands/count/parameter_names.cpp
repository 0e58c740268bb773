#include "commands/count/parameter_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/edit_distance.h"
#include "core/log.h"
#include "profiler/text.h"
#include "symbols/parameters.h"

namespace sp::count {
namespace {

using core::CallValue;
using core::fail;
using core::Result;
using symbols::Parameter;

/// A function that patterns name, and its parameters.
struct Signature {
  std::string function;
  std::vector<Parameter> list;

  [[nodiscard]] std::string text() const {
    std::vector<std::string> parameters;
    for (const Parameter& one : list) {
      parameters.push_back(one.name.empty() ? one.type : one.type + " " + one.name);
    }
    const std::string brief = function.substr(0, function.find('('));
    return fmt::format("{}({})", brief, fmt::join(parameters, ", "));
  }
};

bool asks_for_names(const cli::CountOptions& options) {
  const core::CallQuery& query = options.query;
  const auto is_named = [](const CallValue& value) { return value.is_by_name(); };
  return options.all_parameters ||
         std::any_of(query.values.begin(), query.values.end(), is_named) ||
         (query.measured && query.measured->is_by_name()) ||
         std::any_of(query.conditions.begin(), query.conditions.end(),
                     [&](const auto& condition) { return is_named(condition.value); });
}

/// gcc's copies of functions with other parameters; their debug information has the original ones.
bool is_changed_copy(const std::string& name) {
  return name.find(".isra.") != std::string::npos ||
         name.find(".constprop.") != std::string::npos || name.find(".part.") != std::string::npos;
}

Result<std::vector<Signature>> signatures(const FunctionPatterns& patterns,
                                          const std::vector<NamedFile>& files) {
  constexpr std::size_t kMost = 200;
  std::vector<Signature> found;
  for (const NamedFile& file : files) {
    if (!patterns.wants(file.path, file.is_program)) {
      continue;
    }
    const WantedFunctions wanted = patterns.find(file);
    if (wanted.empty()) {
      continue;
    }
    symbols::ParameterReader reader(file.image, file.path, file.root, patterns.debug_directories());
    for (const auto& [address, function] : wanted) {
      auto parameters = function.is_ifunc ? std::nullopt : reader.find(address);
      if (!parameters) {
        return fail(fmt::format(
            "names of parameters: there is no debug information (DWARF) for {} of {}; write arg1, "
            "arg2, .. or name its debug files with --debug-dir",
            function.name, profiler::base_name(file.path)));
      }
      if (parameters->is_changed || is_changed_copy(function.name)) {
        return fail(
            fmt::format("names of parameters: the compiler has changed those of {}; write "
                        "arg1, arg2, ..",
                        function.name));
      }
      if (found.size() == kMost) {
        return fail(fmt::format("names of parameters: more than {} functions are named; name fewer",
                                kMost));
      }
      found.push_back({function.name, std::move(parameters->list)});
    }
  }
  if (found.empty()) {
    return fail(
        "names of parameters: the function's file is not known before the program loads it; write "
        "arg1, arg2, ..");
  }
  return found;
}

std::string nearest_to(const std::string& name, const Signature& of) {
  std::size_t least = std::max<std::size_t>(2, name.size() / 2) + 1;
  std::string nearest;
  for (const Parameter& one : of.list) {
    const std::size_t distance = core::edit_distance(one.name, name);
    if (!one.name.empty() && distance < least) {
      least = distance;
      nearest = one.name;
    }
  }
  return nearest;
}

CallValue value_of(const Parameter& parameter) {
  CallValue value;
  value.argument = parameter.argument;
  value.type = parameter.value_type;
  value.bytes = parameter.bytes;
  value.name = parameter.name;
  return value;
}

Result<CallValue> find_in(const CallValue& asked, const Signature& of) {
  const auto found = std::find_if(of.list.begin(), of.list.end(),
                                  [&](const Parameter& one) { return one.name == asked.name; });
  if (found == of.list.end()) {
    const std::string nearest = nearest_to(asked.name, of);
    return fail(fmt::format("'{}' is no parameter of {}; {}", asked.name, of.text(),
                            nearest.empty() ? "write one of these, or arg1, arg2, .."
                                            : fmt::format("near: {}", nearest)));
  }
  if (found->argument == 0) {
    return fail(fmt::format("'{}' of {} cannot be read: it is no number or pointer in a register",
                            asked.name, of.text()));
  }
  CallValue value = value_of(*found);
  if (asked.has_type) {
    const bool is_float = value.type == core::ValueType::floating;
    if (is_float != (asked.type == core::ValueType::floating)) {
      return fail(fmt::format("'{}' of {} is {}a floating-point number; leave out its type",
                              asked.name, of.text(), is_float ? "" : "not "));
    }
    value.type = asked.type;
  }
  return value;
}

Result<void> resolve(CallValue& value, const std::vector<Signature>& all) {
  if (!value.is_by_name()) {
    return {};
  }
  const auto first = find_in(value, all.front());
  if (!first) {
    return tl::unexpected(first.error());
  }
  for (const Signature& other : all) {
    const auto found = find_in(value, other);
    if (!found) {
      return tl::unexpected(found.error());
    }
    if (found->argument != first->argument || found->type != first->type ||
        found->bytes != first->bytes) {
      return fail(fmt::format("'{}' is another argument in {} than in {}; name one function",
                              value.name, other.text(), all.front().text()));
    }
  }
  value = *first;
  return {};
}

/// --args all: in front of --ret.
Result<void> add_all(core::CallQuery& query, const std::vector<Signature>& all) {
  const Signature& first = all.front();
  for (const Signature& other : all) {
    const bool is_same =
        std::equal(first.list.begin(), first.list.end(), other.list.begin(), other.list.end(),
                   [](const Parameter& one, const Parameter& two) {
                     return one.name == two.name && one.argument == two.argument &&
                            one.value_type == two.value_type && one.bytes == two.bytes;
                   });
    if (!is_same) {
      return fail(fmt::format("--args all: {} and {} have different parameters; name one function",
                              first.text(), other.text()));
    }
  }
  std::vector<CallValue> values;
  std::vector<std::string> unread;
  for (std::size_t i = 0; i < first.list.size(); ++i) {
    const Parameter& parameter = first.list[i];
    const std::string name =
        parameter.name.empty() ? fmt::format("parameter {}", i + 1) : parameter.name;
    if (parameter.argument == 0) {
      unread.push_back(name);
      continue;
    }
    values.push_back(value_of(parameter));
    values.back().name = name;
  }
  core::log_note("{}", first.text());
  if (!unread.empty()) {
    core::log_note("--args all: not shown, since no number or pointer in a register: {}",
                   fmt::join(unread, ", "));
  }
  query.values.insert(query.values.begin(), values.begin(), values.end());
  return {};
}

bool is_number(const CallValue& value) {
  return value.type != core::ValueType::floating && value.type != core::ValueType::text;
}

}  // namespace

Result<void> find_named_parameters(cli::CountOptions& options, const FunctionPatterns& patterns,
                                   const std::vector<NamedFile>& files) {
  if (!asks_for_names(options)) {
    return {};
  }
  const auto all = signatures(patterns, files);
  if (!all) {
    return tl::unexpected(all.error());
  }
  core::CallQuery& query = options.query;
  Result<void> done;
  const auto resolve_one = [&](CallValue& value) {
    if (done) {
      done = resolve(value, *all);
    }
  };
  std::for_each(query.values.begin(), query.values.end(), resolve_one);
  if (query.measured) {
    resolve_one(*query.measured);
    if (done && !is_number(*query.measured)) {
      done = fail(fmt::format("--hist: only of numbers, and '{}' is none; write {}:x",
                              query.measured->name, query.measured->name));
    }
  }
  for (core::CallCondition& condition : query.conditions) {
    resolve_one(condition.value);
    if (done && !is_number(condition.value)) {
      done = fail(fmt::format("--if: only numbers are compared; write {} with the type x",
                              condition.value.name));
    }
  }
  if (done && options.all_parameters) {
    done = add_all(query, *all);
  }
  options.run.calls = query;
  return done;
}

}  // namespace sp::count
