#include "profiler/formats/trace_speedscope.h"

#include <fmt/format.h>

#include <cstdint>
#include <ostream>
#include <unordered_map>
#include <utility>

#include "profiler/text.h"
#include "profiler/trace/trace_names.h"

namespace sp::profiler {
namespace {

/// The frames of the file, by function. The last one stands for functions without a row.
class SpeedscopeFrames {
 public:
  explicit SpeedscopeFrames(const TraceReader& trace) : trace_(trace) {
    for (const std::uint32_t number : trace.function_numbers()) {
      frames_.emplace(number, frames_.size());
    }
  }

  [[nodiscard]] std::size_t of(std::uint32_t function) const {
    const auto found = frames_.find(function);
    return found == frames_.end() ? frames_.size() : found->second;
  }

  void write(std::ostream& out) const {
    for (const std::uint32_t number : trace_.function_numbers()) {
      const TraceFunction& row = *trace_.function(number);
      out << "\n{\"name\":" << json_string(trace_function_name(trace_, number));
      if (!row.file.empty()) {
        out << ",\"file\":" << json_string(row.file);
      } else if (const std::string path = trace_module_path(trace_, number); !path.empty()) {
        out << ",\"file\":" << json_string(path);
      }
      if (!row.file.empty() && row.line > 0) {
        out << ",\"line\":" << row.line;
      }
      out << "},";
    }
    out << "\n{\"name\":\"[unknown]\"}";
  }

 private:
  const TraceReader& trace_;
  std::unordered_map<std::uint32_t, std::size_t> frames_;
};

class SpeedscopeEvents final : public CallVisitor {
 public:
  SpeedscopeEvents(std::ostream& out, const SpeedscopeFrames& frames)
      : out_(out), frames_(frames) {}

  void begin(const TracedCall& call) override { write('O', call, call.begin_ns); }
  void end(const TracedCall& call) override { write('C', call, call.end_ns); }

  [[nodiscard]] std::int64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::int64_t last_ns() const { return last_ns_; }

 private:
  void write(char type, const TracedCall& call, std::int64_t ns) {
    out_ << fmt::format("{}{{\"type\":\"{}\",\"at\":{},\"frame\":{}}}", is_first_ ? "\n" : ",\n",
                        type, ns, frames_.of(call.function));
    first_ns_ = is_first_ ? ns : first_ns_;
    last_ns_ = ns;
    is_first_ = false;
  }

  std::ostream& out_;
  const SpeedscopeFrames& frames_;
  bool is_first_ = true;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace

void write_trace_speedscope(std::ostream& out, TraceReader& trace, TraceWalk& walk,
                            std::string_view name, std::string_view exporter) {
  const SpeedscopeFrames frames(trace);
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":"
      << json_string(exporter) << ",\n\"name\":" << json_string(name)
      << ",\n\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[";
  frames.write(out);
  out << "\n]},\n\"profiles\":[";
  std::string_view between;
  for (const auto& [key, track] : name_tracks(trace, walk.tracks())) {
    out << between << "{\"type\":\"evented\",\"name\":"
        << json_string(fmt::format("{} ({})", track.name, track.tid))
        << ",\"unit\":\"nanoseconds\",\n\"events\":[";
    SpeedscopeEvents events(out, frames);
    walk.run_track(key.first, key.second, events);
    out << fmt::format("\n],\n\"startValue\":{},\"endValue\":{}}}", events.first_ns(),
                       events.last_ns());
    between = ",\n";
  }
  out << "]}\n";
}

}  // namespace sp::profiler
