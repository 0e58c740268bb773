#include "commands/doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include "commands/doctor/machine.h"
#include "commands/doctor/process.h"

namespace sp::doctor {
namespace {

constexpr std::string_view kReset = "\033[0m";

struct Mark {
  std::string_view word;
  std::string_view color;
};

Mark mark(Level level) {
  switch (level) {
    case Level::ok:
      return {"ok", "\033[32m"};
    case Level::warn:
      return {"warn", "\033[33m"};
    case Level::fail:
      return {"FAIL", "\033[1;31m"};
  }
  return {"", ""};
}

std::string verdict(std::span<const Finding> findings) {
  const auto of_level = [&](Level level) {
    return std::count_if(findings.begin(), findings.end(),
                         [level](const Finding& finding) { return finding.level == level; });
  };
  const auto failures = of_level(Level::fail);
  const auto warnings = of_level(Level::warn);
  if (failures > 0) {
    return fmt::format("Profiling cannot work: see the {} above.",
                       failures == 1 ? "line that says FAIL" : "lines that say FAIL");
  }
  return warnings > 0 ? "Profiling works, within the limits above." : "Profiling works.";
}

}  // namespace

std::string render(std::span<const Finding> findings, bool color) {
  std::size_t widest = 0;
  for (const Finding& finding : findings) {
    widest = std::max(widest, finding.subject.size());
  }
  std::string text;
  for (const Finding& finding : findings) {
    const auto [word, start] = mark(finding.level);
    const std::string padding(4 - word.size(), ' ');
    text += color ? fmt::format("{}{}{}{}", start, word, kReset, padding)
                  : fmt::format("{}{}", word, padding);
    text += fmt::format("  {:<{}}  {}\n", finding.subject, widest, finding.fact);
    if (!finding.fix.empty()) {
      text += fmt::format("      {:<{}}  fix: {}\n", "", widest, finding.fix);
    }
  }
  return text + verdict(findings) + "\n";
}

int run(const cli::DoctorOptions& options) {
  std::vector<Finding> findings = judge(look_at_machine());
  if (options.pid) {
    std::vector<Finding> more = judge(look_at_process(*options.pid));
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  const bool color = options.color == cli::Color::always ||
                     (options.color == cli::Color::automatic && ::isatty(STDOUT_FILENO) == 1);
  const std::string text = render(findings, color);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const bool printed = std::fflush(stdout) == 0;
  const bool works = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Level::fail;
  });
  return works && printed ? 0 : 1;
}

}  // namespace sp::doctor
