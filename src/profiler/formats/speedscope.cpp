#include "profiler/formats/speedscope.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

// JsonWriter would put each number on a line of its own.
void write_frames(std::ostream& out, std::span<const RecordedFunction> functions) {
  std::string_view between = "\n";
  for (const RecordedFunction& function : functions) {
    out << between << "{\"name\":" << json_string(function.name);
    if (!function.file.empty()) {
      out << ",\"file\":" << json_string(function.file);
    } else if (!function.module.empty()) {
      out << ",\"file\":" << json_string(function.module);
    }
    if (!function.file.empty() && function.line > 0) {
      out << ",\"line\":" << function.line;
    }
    out << '}';
    between = ",\n";
  }
}

}  // namespace

std::uint64_t write_speedscope(std::ostream& out, const RecordedRun& run, StackSource& stacks) {
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":"
      << json_string("superprofiler " + run.version) << ",\n\"name\":" << json_string(run.name)
      << ",\n\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[";
  write_frames(out, stacks.functions());
  out << "\n]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":"
      << json_string(fmt::format("{} ({})", run.command, run.sampling()))
      << ",\"unit\":\"none\",\"startValue\":0,\n\"samples\":[";
  std::vector<std::uint64_t> weights;
  std::string line;
  stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
    line = weights.empty() ? "\n[" : ",\n[";
    for (std::size_t i = 0; i < frames.size(); ++i) {
      line += i == 0 ? "" : ",";
      fmt::format_to(std::back_inserter(line), "{}", frames[i]);
    }
    out << line << ']';
    weights.push_back(samples);
  });
  out << "\n],\n\"weights\":[";
  std::uint64_t total = 0;
  std::uint64_t rounded = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    out << (i == 0 ? "\n" : ",\n") << weights[i];
    total += weights[i];
    rounded += weights[i] > kExactInJavaScript ? 1 : 0;
  }
  out << "\n],\n\"endValue\":" << total << "}]}\n";
  return rounded + (total > kExactInJavaScript ? 1 : 0);
}

}  // namespace sp::profiler
