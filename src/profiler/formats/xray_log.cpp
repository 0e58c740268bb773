#include "profiler/formats/xray_log.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "profiler/recording/payload.h"
#include "profiler/text.h"
#include "profiler/trace/trace_names.h"

namespace sp::profiler {
namespace {

/// https://llvm.org/docs/XRay.html and llvm/lib/XRay/Trace.cpp
constexpr std::uint16_t kXrayVersion = 3;
constexpr std::uint32_t kConstantAndNonstop = 3;
constexpr std::uint64_t kNanosecondsInSecond = 1'000'000'000;
constexpr std::uint8_t kXrayEnter = 0;
constexpr std::uint8_t kXrayExit = 1;
constexpr std::uint8_t kXrayTailExit = 2;
constexpr std::uint8_t kXrayEnterWithArgument = 3;
constexpr std::uint16_t kXrayArgument = 1;  // the type of a record: of the entry before it

void put(std::ostream& out, const PayloadWriter& bytes) {
  out.write(static_cast<const char*>(static_cast<const void*>(bytes.bytes().data())),
            static_cast<std::streamsize>(bytes.size()));
}

class XrayCalls final : public CallVisitor {
 public:
  XrayCalls(std::ostream& out, const TraceTracks& tracks) : out_(out), tracks_(tracks) {}

  void begin(const TracedCall& call) override {
    write(call.argument ? kXrayEnterWithArgument : kXrayEnter, call, call.begin_ns);
    if (call.argument) {
      write_argument(call, *call.argument);
    }
  }
  void end(const TracedCall& call) override {
    write(call.closing == TraceClosing::tail ? kXrayTailExit : kXrayExit, call, call.end_ns);
  }

 private:
  void write(std::uint8_t kind, const TracedCall& call, std::int64_t ns) {
    const TraceTrack& track = tracks_.at({call.thread, call.stack});
    // Ticks have no sign. Threads differ in what was stolen from them.
    first_ns_ = first_ns_ ? first_ns_ : ns;
    const std::uint64_t ticks =
        ns < *first_ns_ ? 0
                        : static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(*first_ns_);
    PayloadWriter record;
    record.number(std::uint16_t{0});
    record.number(std::uint8_t{0});  // the CPU
    record.number(kind);
    record.u32(call.function + 1);
    record.u64(ticks);
    record.u32(static_cast<std::uint32_t>(track.tid));
    record.u32(static_cast<std::uint32_t>(track.pid));
    record.u64(0);
    put(out_, record);
  }

  void write_argument(const TracedCall& call, std::uint64_t argument) {
    const TraceTrack& track = tracks_.at({call.thread, call.stack});
    PayloadWriter record;
    record.number(kXrayArgument);
    record.number(std::uint16_t{0});
    record.u32(call.function + 1);
    record.u32(static_cast<std::uint32_t>(track.tid));
    record.u32(static_cast<std::uint32_t>(track.pid));
    record.u64(argument);
    record.u64(0);
    put(out_, record);
  }

  std::ostream& out_;
  const TraceTracks& tracks_;
  std::optional<std::int64_t> first_ns_{};
};

/// In single quotes, on one line.
std::string yaml_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : folded_blanks(utf8_text(text))) {
    quoted += c;
    if (c == '\'') {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

void write_xray_log(std::ostream& out, TraceReader& trace, TraceWalk& walk) {
  PayloadWriter header;
  header.number(kXrayVersion);
  header.number(std::uint16_t{0});  // basic mode
  header.u32(kConstantAndNonstop);
  header.u64(kNanosecondsInSecond);
  header.u64(0);
  header.u64(0);
  put(out, header);
  const TraceTracks tracks = name_tracks(trace, walk.tracks());
  XrayCalls calls(out, tracks);
  walk.run(calls);
}

void write_xray_map(std::ostream& out, const TraceReader& trace) {
  out << "---\n";
  for (const std::uint32_t number : trace.function_numbers()) {
    const TraceFunction& function = *trace.function(number);
    const RecordingModule* const module = trace.module(function.module);
    const std::uint64_t address = function.offset + (module == nullptr ? 0 : module->base);
    out << fmt::format(
        "- {{ id: {0}, address: 0x{1:x}, function: 0x{1:x}, kind: function-enter, "
        "always-instrument: true, function-name: {2}, version: 2 }}\n",
        number + 1, address, yaml_text(trace_function_name(trace, number)));
  }
  out << "...\n";
}

}  // namespace sp::profiler
