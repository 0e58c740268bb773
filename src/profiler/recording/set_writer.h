#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>

#include "core/clock.h"
#include "core/result.h"
#include "profiler/counted_span.h"
#include "profiler/named_code.h"
#include "profiler/named_profile.h"
#include "profiler/profile.h"
#include "profiler/recording/chunk_stream.h"
#include "profiler/recording/container_writer.h"

namespace sp::profiler {

/// What is known of a run at a snapshot or at its end.
struct SetContent {
  std::function<void(std::ostream&)> write_facts;  // run.json
  const NamedProfile* named = nullptr;             // null: the run has only begun
  const NamedCode* code = nullptr;                 // null if nothing was counted
  CountsContext context{};
};

/// Writes a set of names and facts. Only what has its end behind it is a set: readers take the last
/// one that has.
class SetWriter {
 public:
  SetWriter(ContainerWriter& to, std::uint32_t set, core::TimePoint started)
      : to_(to), set_(set), started_(started), strings_(to, set) {}

  [[nodiscard]] core::Result<void> write(const Profile& profile, const SetContent& content,
                                         core::TimePoint now);

 private:
  [[nodiscard]] core::Result<void> write_facts(const SetContent& content);
  [[nodiscard]] core::Result<void> write_functions(const SetContent& content);
  [[nodiscard]] core::Result<void> write_names(const NamedProfile& named);
  [[nodiscard]] core::Result<void> write_sums(const Profile& profile);
  [[nodiscard]] core::Result<void> write_code(const SetContent& content);
  [[nodiscard]] core::Result<void> write_blocks(const SetContent& content);
  [[nodiscard]] core::Result<void> write_edges(const SetContent& content);
  void put_source(PayloadWriter& row, std::string_view source);
  void put_span(PayloadWriter& row, const CountedSpan& span) const;
  [[nodiscard]] std::int64_t since_start(core::TimePoint time) const {
    return (time - started_).count();
  }

  ContainerWriter& to_;
  const std::uint32_t set_;
  const core::TimePoint started_;
  StringStream strings_;
};

}  // namespace sp::profiler
