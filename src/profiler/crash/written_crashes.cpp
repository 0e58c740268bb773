#include "profiler/crash/written_crashes.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

std::string crash_text(const WrittenCrashes::Crash& crash) {
  std::string text = fmt::format("crashed: {}", crash.signal);
  if (!crash.function.empty()) {
    text += fmt::format(" in {}", crash.function);
  }
  if (!crash.source.empty()) {
    text += fmt::format(" ({})", crash.source);
  }
  text += fmt::format(", thread {} \"{}\" of process {}", crash.tid, crash.thread, crash.pid);
  return text + (crash.file.empty() ? "" : fmt::format("; all stacks: {}", crash.file));
}

}  // namespace

std::vector<std::string> crash_texts(const WrittenCrashes& crashes) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kShown, crashes.first.size()); ++i) {
    texts.push_back(crash_text(crashes.first[i]));
  }
  if (crashes.all > texts.size()) {
    texts.push_back(
        fmt::format("crashed: {} more (crash-*.json)", grouped(crashes.all - texts.size())));
  }
  return texts;
}

}  // namespace sp::profiler
