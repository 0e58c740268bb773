#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/module.h"
#include "core/run_facts.h"
#include "profiler/emitter/emit_options.h"
#include "profiler/emitter/process_metrics.h"
#include "profiler/formats/compact_json.h"

/// The lines of --emit, each a JSON value {type, data} with its line end; docs/emit.schema.json.
namespace sp::profiler {

struct EmitHello {
  const core::RunFacts& facts;
  std::string version;  // of superprofiler
  std::uint64_t run_id = 0;
  core::TimePoint started{};  // since_us and until_us count from it
  const EmitOptions& options;
  std::span<const core::Module> modules;
};
[[nodiscard]] std::string hello_line(const EmitHello& hello);

/// What came since the last profile.
struct EmitProfile {
  std::uint64_t seq = 0;  // from 0
  std::int64_t since_us = 0;
  std::int64_t until_us = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t lost_samples = 0;
  std::string tree;  // a NODE
};
[[nodiscard]] std::string profile_line(const EmitProfile& profile);

struct EmitSymbol {
  std::uint64_t id = 0;
  std::string name;
  std::string module;  // path
  std::uint64_t offset = 0;
  std::string file{};  // "": not known
  std::uint32_t line = 0;
};
[[nodiscard]] std::string symbols_line(const std::vector<EmitSymbol>& symbols);

[[nodiscard]] std::string metrics_line(const ProcessMetrics& metrics);

/// An `event`; `write` writes the keys of its data.
[[nodiscard]] std::string event_line(const std::function<void(CompactJson&)>& write);
/// Calls come no longer, or again: of all processes, or of one (`pid` > 0).
[[nodiscard]] std::string state_line(bool is_awake, std::string_view reason, int pid);
/// The program has ended with that status.
[[nodiscard]] std::string exit_line(int status);
[[nodiscard]] std::string log_line(std::string_view level, std::string_view message);

}  // namespace sp::profiler
