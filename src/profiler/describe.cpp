#include "profiler/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// "1.20", "12.0", "120": three digits of a value from 1 to 999.
std::string three_digits(double value) {
  if (value < 9.995) {
    return fmt::format("{:.2f}", value);
  }
  return value < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

bool needs_quotes(const std::string& word) {
  const auto is_plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80 ||
           std::string_view("_-./:=+,@%^").find(c) != std::string_view::npos;
  };
  return word.empty() || !std::all_of(word.begin(), word.end(), is_plain);
}

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

}  // namespace

std::string duration_text(core::Duration duration) {
  const auto ns = static_cast<double>(duration.count());
  if (ns < 999.5) {
    return fmt::format("{:.0f} ns", ns);
  }
  if (ns < 999.5e3) {
    return three_digits(ns / 1e3) + " us";
  }
  if (ns < 999.5e6) {
    return three_digits(ns / 1e6) + " ms";
  }
  const long long whole = std::llround(ns / 1e9);
  return whole < 100 ? three_digits(ns / 1e9) + " s"
                     : fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string percent_text(double part, double of) {
  const double percent = of > 0 ? 100 * part / of : 0;
  return percent >= 9.95 || percent == 0 ? fmt::format("{:.1f} %", percent)
                                         : fmt::format("{:.2f} %", percent);
}

std::string sampling_text(const core::RunFacts& facts, const SampleCounts& counts, bool wall) {
  std::string of = "on-CPU";
  if (wall) {
    of =
        fmt::format("wall: {} on-CPU, {} blocked", grouped(counts.on_cpu), grouped(counts.blocked));
  }
  std::string text = fmt::format("sampled ({} {}, {})", grouped(counts.total()),
                                 counts.total() == 1 ? "sample" : "samples", of);
  if (facts.cost.mean_interval.count() > 0) {
    text += fmt::format(", one every {} on average", duration_text(facts.cost.mean_interval));
  }
  return text;
}

std::string part_text(const core::RunFacts& facts) {
  return facts.part < 2
             ? ""
             : fmt::format(" (the last of {} parts; the numbers are its own)", facts.part);
}

std::string overhead_text(const core::Cost& cost) {
  return fmt::format("overhead {} {:.2f} %", cost.is_share_minimum ? "more than" : "about",
                     cost.overhead_percent);
}

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    text += text.empty() ? "" : " ";
    text += needs_quotes(word) ? quoted(word) : word;
  }
  return text;
}

std::string title_text(const core::RunFacts& facts) {
  return facts.command.empty() ? facts.name : command_text(facts.command);
}

std::string subtitle_text(const core::RunFacts& facts, const SampleCounts& counts, bool wall) {
  return fmt::format("{}, {}, {}", sampling_text(facts, counts, wall), duration_text(facts.elapsed),
                     overhead_text(facts.cost));
}

}  // namespace sp::profiler
