#include <fmt/format.h>

#include <utility>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

constexpr std::string_view kSymbolsUsage = "superprofiler symbols BIN";

Result<std::string> read_binary(const Arguments& given) {
  std::vector<std::string> files = given.words();
  if (const auto& after = given.after_dashes()) {
    files.insert(files.end(), after->begin(), after->end());
  }
  if (files.size() != 1) {
    return fail(files.empty() ? fmt::format("symbols needs a program or library: {}", kSymbolsUsage)
                              : fmt::format("symbols takes one file, {} are given: {}",
                                            files.size(), kSymbolsUsage));
  }
  if (files.front().empty()) {
    return fail(fmt::format("symbols: the name of the file is empty: {}", kSymbolsUsage));
  }
  return files.front();
}

/// `\t` is what a shell's user writes.
Result<char> read_separator(const std::string& value) {
  const std::string text = value == "\\t" ? "\t" : value;
  const bool is_one = text.size() == 1;
  if (!is_one || (text.front() != '\t' && (text.front() < ' ' || text.front() > '~')) ||
      text.front() == '"') {
    return fail("--csv takes one character that separates cells, such as ';', and not a quote");
  }
  return text.front();
}

/// A file to compare with is all that there is to do.
Result<void> check_alone(const Arguments& given) {
  for (const char* const other : {"csv", "output"}) {
    if (given.has(other)) {
      return fail(
          fmt::format("--check compares two files and writes no table; leave --{} out", other));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> read_functions(const Arguments& given, std::string_view option) {
  std::vector<std::string> names;
  for (const std::string& value : given.all(option)) {
    for (std::string& name : split_list(value)) {
      if (auto known = check_function_pattern(name, fmt::format("--{}", option)); !known) {
        return tl::unexpected(known.error());
      }
      names.push_back(std::move(name));
    }
  }
  return names;
}

Result<SymbolsOptions> read_symbols(const Arguments& given) {
  auto binary = read_binary(given);
  auto only_funcs = read_functions(given, "only-funcs");
  auto places = read_places(given);
  if (!binary || !only_funcs || !places) {
    return tl::unexpected(!binary       ? binary.error()
                          : !only_funcs ? only_funcs.error()
                                        : places.error());
  }
  SymbolsOptions options;
  options.binary = *std::move(binary);
  options.only_funcs = *std::move(only_funcs);
  options.places = *std::move(places);
  options.filters = given.all("filters");
  options.attr_lists = given.all("attr-list");
  options.debug_dirs = given.all("debug-dir");
  if (const auto separator = given.last("csv")) {
    const auto read = read_separator(*separator);
    if (!read) {
      return tl::unexpected(read.error());
    }
    options.separator = *read;
  }
  options.output = given.last("output").value_or("");
  options.check = given.last("check").value_or("");
  for (const char* const option : {"output", "check"}) {
    if (given.has(option) && given.last(option)->empty()) {
      return fail(
          fmt::format("--{}: the name of the file is empty; leave it out or give one", option));
    }
  }
  if (given.has("check")) {
    if (const auto alone = check_alone(given); !alone) {
      return tl::unexpected(alone.error());
    }
  }
  return options;
}

}  // namespace sp::cli
