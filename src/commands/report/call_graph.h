#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "profiler/trace/trace_names.h"
#include "profiler/trace/trace_reader.h"
#include "profiler/trace/traced_call.h"

namespace sp::report {

/// Prints calls in the order of their times, as uftrace replay does:
///
///   # DURATION        TID  FUNCTION
///                 [ 4711] | main() {
///        1.234 us [ 4711] |   leaf();
///       20.000 us [ 4711] | } /* main */
///
/// Where the first argument of a call was logged, it stands between the parentheses, or behind
/// those of a name that has some. An event of the program's own is a comment: /* custom event: x */
class CallGraphText final : public profiler::CallVisitor {
 public:
  /// `tracks` of `trace`. All must outlive it.
  CallGraphText(std::ostream& out, const profiler::TraceReader& trace,
                const profiler::TraceTracks& tracks)
      : out_(out), trace_(trace), tracks_(tracks) {}

  void write_heading();
  void begin(const profiler::TracedCall& call) override;
  void end(const profiler::TracedCall& call) override;
  void note(const profiler::TracedEvent& event) override;

 private:
  using Track = std::pair<std::uint32_t, std::uint32_t>;  // a thread, and a stack of it
  void write_line(const Track& of, std::uint32_t depth, const std::string& duration,
                  const std::string& text);
  void write_line(const profiler::TracedCall& call, const std::string& duration,
                  const std::string& text) {
    write_line({call.thread, call.stack}, call.depth, duration, text);
  }
  [[nodiscard]] std::string text_of(const profiler::TracedCall& call);
  void open_last();
  const std::string& name_of(std::uint32_t function);

  std::ostream& out_;
  const profiler::TraceReader& trace_;
  const profiler::TraceTracks& tracks_;
  std::optional<profiler::TracedCall> last_{};  // begun, and not printed: it may be a leaf
  std::unordered_map<std::uint32_t, std::string> names_;
};

}  // namespace sp::report
