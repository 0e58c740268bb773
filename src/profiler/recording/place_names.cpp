#include "profiler/recording/place_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/text.h"

namespace sp::profiler {

PlaceNames::PlaceNames(const RecordingReader& recording) : recording_(recording) {
  take_functions();
  for (std::uint32_t place = 0; place < recording.places().size(); ++place) {
    const auto names = recording.names_of(place);
    for (const RecordingName& name : names) {
      at_.push_back(name.function);
    }
    if (names.empty()) {
      at_.push_back(unnamed(recording.places()[place]));
    }
    ends_.push_back(at_.size());
  }
}

void PlaceNames::take_functions() {
  for (const RecordingFunction& function : recording_.functions()) {
    kinds_.push_back(function.kind);
    functions_.push_back(
        {std::string(function.name), std::string(function.module), std::string(function.file),
         function.line, function.self, function.total, function.calls,
         function.calls ? kind_text(function.span, core::TimePoint{}) : "not-counted"});
  }
}

/// As name_profile() and the symbolizer would call it without any symbol.
std::uint32_t PlaceNames::unnamed(const RecordingPlace& place) {
  RecordedFunction function;
  FunctionKind kind = FunctionKind::unknown;
  switch (place.kind) {
    case StepKind::instruction:
    case StepKind::return_address: {
      const RecordingModule* module = recording_.module(place.module);
      function.module = module == nullptr ? "[unknown]" : std::string(module->path);
      function.name = fmt::format("{}+{:#x}", base_name(function.module), place.value);
      break;
    }
    case StepKind::blocked: {
      const std::string_view syscall = recording_.text(static_cast<std::uint32_t>(place.value));
      function.name = fmt::format("[blocked: {}]", syscall.empty() ? "unknown" : syscall);
      function.module = "[kernel]";
      kind = FunctionKind::blocked;
      break;
    }
    case StepKind::truncated:
      function.name = "[truncated]";
      kind = FunctionKind::truncated;
      break;
    case StepKind::collapsed:
      function.name = "[collapsed: too many distinct stacks]";
      function.module = "[superprofiler]";
      kind = FunctionKind::collapsed;
      break;
    case StepKind::thread: {
      const bool is_known = place.value < recording_.threads().size();
      const RecordingThread thread =
          is_known ? recording_.threads()[place.value] : RecordingThread{};
      function.name = fmt::format("{} ({})", thread.name, thread.id.tid);
      kind = FunctionKind::thread;
      break;
    }
  }
  functions_.push_back(std::move(function));
  kinds_.push_back(kind);
  return static_cast<std::uint32_t>(functions_.size() - 1);
}

std::uint32_t PlaceNames::stack_of(std::uint32_t node,
                                   std::vector<std::uint32_t>& functions) const {
  functions.clear();
  const std::vector<RecordingNode>& nodes = recording_.nodes();
  for (; node > Profile::kPcOnlyRoot; node = nodes[node].parent) {
    const auto here = at(nodes[node].place);
    functions.insert(functions.end(), here.rbegin(), here.rend());
  }
  std::reverse(functions.begin(), functions.end());
  return node;
}

}  // namespace sp::profiler
