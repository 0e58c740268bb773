#include "commands/count/function_patterns.h"

#include <algorithm>
#include <utility>

#include "symbols/cold_part.h"
#include "symbols/demangle.h"
#include "symbols/instrumentation_candidates.h"
#include "symbols/named_functions.h"
#include "symbols/symbol_table.h"

namespace sp::count {
namespace {

/// "libc.so.6", "libc-2.31.so" and "libc.so" for "c".
bool is_library(std::string_view file_name, std::string_view module) {
  if (!file_name.starts_with("lib")) {
    return false;
  }
  file_name.remove_prefix(3);
  if (!file_name.starts_with(module)) {
    return false;
  }
  file_name.remove_prefix(module.size());
  if (file_name.starts_with('-')) {
    file_name.remove_prefix(
        std::min(file_name.find_first_not_of("0123456789.", 1), file_name.size()));
    return file_name == "so";
  }
  return file_name == ".so" || file_name.starts_with(".so.");
}

}  // namespace

bool names_module(std::string_view module, const std::string& mapped_path, bool is_program) {
  if (module.empty()) {
    return is_program;
  }
  if (!mapped_path.starts_with('/')) {
    return false;
  }
  const std::string_view file_name =
      std::string_view(mapped_path).substr(mapped_path.rfind('/') + 1);
  return module == "*" || is_library(file_name, module) ||
         symbols::is_wanted_module({std::string(module)}, mapped_path, is_program);
}

FunctionPatterns::FunctionPatterns(const std::vector<cli::CountPattern>& patterns,
                                   std::vector<std::string> debug_directories)
    : debug_directories_(std::move(debug_directories)) {
  for (const cli::CountPattern& pattern : patterns) {
    patterns_.push_back({pattern.module, pattern.function,
                         symbols::FunctionMatcher(symbols::CodeSelection{{pattern.function}})});
  }
}

bool FunctionPatterns::wants(const std::string& path, bool is_program) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    return names_module(pattern.module, path, is_program);
  });
}

bool FunctionPatterns::wants_libraries() const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [](const Pattern& pattern) { return !pattern.module.empty(); });
}

bool FunctionPatterns::matches(const NamedFile& file, std::string_view symbol) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    return names_module(pattern.module, file.path, file.is_program) &&
           pattern.matcher.matches(symbol);
  });
}

WantedFunctions FunctionPatterns::find(const NamedFile& file) const {
  std::vector<const Pattern*> patterns;
  for (const Pattern& pattern : patterns_) {
    if (names_module(pattern.module, file.path, file.is_program)) {
      patterns.push_back(&pattern);
    }
  }
  const auto sources =
      symbols::find_symbol_sources(file.image, file.path, file.root, debug_directories_);
  const symbols::SymbolTable table(sources);
  WantedFunctions wanted;
  for (const symbols::NamedFunction& one : symbols::named_functions(sources)) {
    const bool is_match = !symbols::is_cold_part(one.symbol) &&
                          std::any_of(patterns.begin(), patterns.end(), [&](const auto* pattern) {
                            return pattern->matcher.matches(one.symbol);
                          });
    if (!is_match) {
      continue;
    }
    // Of aliases the user's is shown, and of several of these the best.
    const std::string_view best = table.starting_at(one.begin);
    const bool is_best = best.substr(0, best.find('@', 1)) == one.symbol;
    const auto [known, is_new] = wanted.try_emplace(one.begin);
    if (is_new || is_best) {
      known->second.name = symbols::demangle(one.symbol);
    }
    known->second.is_ifunc = known->second.is_ifunc || one.is_ifunc;
  }
  return wanted;
}

std::vector<std::string> FunctionPatterns::all_names(const NamedFile& file) const {
  std::vector<std::string> names;
  const auto sources =
      symbols::find_symbol_sources(file.image, file.path, file.root, debug_directories_);
  for (const symbols::NamedFunction& one : symbols::named_functions(sources)) {
    names.push_back(symbols::demangle(one.symbol));
  }
  return names;
}

}  // namespace sp::count
