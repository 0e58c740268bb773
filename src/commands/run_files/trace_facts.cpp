#include "commands/run_files/trace_facts.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace sp::run_files {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestDuration = std::numeric_limits<std::int64_t>::max();

/// A number of a missing key, or of one with a value of another type, is 0.
std::uint64_t number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

}  // namespace

TraceFacts parse_trace_facts(const std::string& run_json) {
  TraceFacts facts;
  const json run = json::parse(run_json, nullptr, false);
  const auto trace = run.is_object() ? run.find("trace") : run.end();
  if (!run.is_object() || trace == run.end() || !trace->is_object()) {
    return facts;
  }
  facts.lost = number_at(*trace, "lost");
  facts.cleared = number_at(*trace, "cleared");
  facts.times_off = number_at(*trace, "times_off");
  const auto is_full = trace->find("size_limit_reached");
  facts.is_full = is_full != trace->end() && *is_full == true;
  facts.min_duration_ns = static_cast<std::int64_t>(
      std::min<std::uint64_t>(number_at(*trace, "min_duration_ns"), kLongestDuration));
  facts.max_depth = number_at(*trace, "max_depth");
  facts.functions_in_part = number_at(*trace, "functions_too_hot") +
                            number_at(*trace, "functions_learned") +
                            number_at(*trace, "functions_overwritten");
  return facts;
}

}  // namespace sp::run_files
