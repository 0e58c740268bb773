#include "profiler/trace/trace_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// Above PID_MAX_LIMIT, 2^22.
constexpr std::int32_t kFirstTidOfOurs = 1 << 24;

}  // namespace

std::string trace_module_path(const TraceReader& reader, std::uint32_t number) {
  const TraceFunction* const function = reader.function(number);
  const RecordingModule* const module =
      function == nullptr ? nullptr : reader.module(function->module);
  return module == nullptr ? std::string() : std::string(module->path);
}

std::string trace_function_name(const TraceReader& reader, std::uint32_t number) {
  const TraceFunction* const function = reader.function(number);
  if (function == nullptr) {
    return fmt::format("[function {}]", number);
  }
  if (!function->name.empty()) {
    return std::string(function->name);
  }
  if (!function->linkage_name.empty()) {
    return std::string(function->linkage_name);
  }
  const std::string module = trace_module_path(reader, number);
  return fmt::format("{}+0x{:x}", module.empty() ? "[unknown]" : base_name(module),
                     function->offset);
}

std::string event_name(const core::ProgramEvent& event) {
  return event.type ? fmt::format("typed event {}", *event.type) : "custom event";
}

std::string event_data(const core::ProgramEvent& event) {
  std::string text;
  for (const std::byte byte : event.data) {
    text += static_cast<char>(byte);
  }
  text.resize(text.find_last_not_of('\0') + 1);
  const bool is_text =
      (!text.empty() || event.data.empty()) && utf8_text(text) == text &&
      std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r';
      });
  if (is_text) {
    return text;
  }
  std::string bytes;
  for (const std::byte byte : event.data) {
    bytes += fmt::format("{}{:02x}", bytes.empty() ? "" : " ", std::to_integer<unsigned>(byte));
  }
  return bytes;
}

TraceTracks name_tracks(const TraceReader& reader,
                        const std::set<std::pair<std::uint32_t, std::uint32_t>>& tracks) {
  TraceTracks named;
  std::optional<std::uint32_t> last_thread;
  std::uint64_t of_first = 0;
  for (const auto& [thread, stack] : tracks) {
    const RecordingThread* const row = reader.thread(thread);
    const std::uint64_t number = named.size() + 1;
    const auto tid_of_ours = kFirstTidOfOurs + static_cast<std::int32_t>(number % kFirstTidOfOurs);
    TraceTrack track;
    track.number = number;
    track.is_first = last_thread != thread;
    of_first = track.is_first ? number : of_first;
    track.of_first = of_first;
    track.pid = row == nullptr ? static_cast<std::int32_t>(reader.header().pid) : row->process.pid;
    track.tid = row == nullptr || !track.is_first ? tid_of_ours : row->id.tid;
    track.name = row == nullptr ? fmt::format("thread {}", thread) : std::string(row->name);
    track.name += track.is_first ? "" : fmt::format(", stack {}", stack);
    named.emplace(std::pair(thread, stack), std::move(track));
    last_thread = thread;
  }
  return named;
}

}  // namespace sp::profiler
