#include "profiler/formats/learned_toml.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <map>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

constexpr std::string_view kLearned = "learned:";
/// A rule's pattern has at most 4,096 characters, and each may be escaped.
constexpr std::size_t kLongestName = 1'000;

std::string_view rule_of(const SymbolRow& row) {
  return !row.learned.empty()               ? std::string_view(row.learned)
         : row.reason.starts_with(kLearned) ? std::string_view(row.reason)
                                            : std::string_view();
}

/// A regular expression that matches the text alone, in ASCII.
std::string pattern_of(std::string_view text) {
  constexpr std::string_view kSpecial = R"(^$\.*+?()[]{}|/)";
  std::string pattern;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      pattern += fmt::format("\\x{:02x}", byte);
    } else {
      pattern += kSpecial.find(c) == std::string_view::npos ? "" : "\\";
      pattern += c;
    }
  }
  return pattern;
}

/// A basic string of TOML; the text is ASCII without control characters.
std::string toml_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' || c == '\\' ? "\\" : "";
    quoted += c;
  }
  return quoted + "\"";
}

/// In a comment.
std::string comment_text(std::string_view text) { return folded_blanks(utf8_text(text)); }

void write_rule(std::ostream& out, const SymbolRow& row) {
  const bool is_nameable = !row.linkage_name.empty() && row.linkage_name.size() <= kLongestName &&
                           row.module.size() <= kLongestName;
  if (!is_nameable) {
    out << fmt::format("\n# {}: {}, and it has no name that a rule could have\n",
                       comment_text(row.demangled_name.substr(0, kLongestName)),
                       comment_text(rule_of(row)));
    return;
  }
  out << fmt::format("\n[[block]]\nrule_name = {}\nfunction_linkage_name = {}\nmodule = {}\n",
                     toml_text(comment_text(rule_of(row))), toml_text(pattern_of(row.linkage_name)),
                     toml_text(pattern_of(row.module)));
}

}  // namespace

void write_learned(std::ostream& out, std::span<const SymbolRow> rows, const LearnedRun& run) {
  out << fmt::format(
      "# Functions that cost too much to be traced, as superprofiler --learn has found.\n"
      "# Use: superprofiler --trace --filters learned.toml -- CMD\n"
      "# command: {}\n# date: {:%Y-%m-%dT%H:%M:%SZ}\n",
      comment_text(run.command), fmt::gmtime(std::chrono::system_clock::to_time_t(run.at)));
  std::map<std::string, std::string> builds;
  for (const SymbolRow& row : rows) {
    builds.emplace(row.module, row.build_id);
  }
  for (const auto& [module, build_id] : builds) {
    out << fmt::format("# {}: {}\n", comment_text(module),
                       build_id.empty() ? "no build-id" : "build-id " + build_id);
  }
  std::set<std::pair<std::string_view, std::string_view>> named;  // several may have one name
  for (const SymbolRow& row : rows) {
    if (!rule_of(row).empty() &&
        (row.linkage_name.empty() || named.emplace(row.module, row.linkage_name).second)) {
      write_rule(out, row);
    }
  }
}

}  // namespace sp::profiler
