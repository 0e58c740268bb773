#include "profiler/recording/set_writer.h"

#include <array>
#include <limits>
#include <ostream>
#include <streambuf>

#include "profiler/source_place.h"

namespace sp::profiler {
namespace {

using core::Result;

constexpr std::uint32_t kCallsKnown = 1;
constexpr std::uint32_t kInlined = 1;

/// A stream whose text is chunks.
class ChunkBuffer final : public std::streambuf {
 public:
  ChunkBuffer(ContainerWriter& to, ChunkKind kind, std::uint32_t set)
      : to_(to), kind_(kind), set_(set) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }

  [[nodiscard]] Result<void> finish() {
    flush();
    return written_;
  }

 protected:
  int_type overflow(int_type c) override {
    flush();
    if (!written_) {
      return traits_type::eof();
    }
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      sputc(traits_type::to_char_type(c));
    }
    return traits_type::not_eof(c);
  }

 private:
  void flush() {
    const std::span<const char> text(pbase(), pptr());
    if (written_ && !text.empty()) {
      written_ = to_.add(kind_, set_, std::as_bytes(text));
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }

  ContainerWriter& to_;
  const ChunkKind kind_;
  const std::uint32_t set_;
  Result<void> written_;
  std::array<char, std::size_t{1} << 16U> buffer_{};
};

/// The first error, or the last result.
template <typename... Steps>
Result<void> in_order(Steps... steps) {
  Result<void> written;
  (void)((written = steps(), written.has_value()) && ...);
  return written;
}

}  // namespace

Result<void> SetWriter::write(const Profile& profile, const SetContent& content,
                              core::TimePoint now) {
  const auto names = [&]() -> Result<void> {
    if (content.named == nullptr) {
      return {};
    }
    return in_order([&] { return write_functions(content); },
                    [&] { return write_names(*content.named); },
                    [&] { return write_sums(profile); });
  };
  const auto code = [&]() -> Result<void> {
    if (content.code == nullptr) {
      return {};
    }
    return in_order([&] { return write_code(content); }, [&] { return write_blocks(content); },
                    [&] { return write_edges(content); });
  };
  const auto end = [&] {
    PayloadWriter payload;
    payload.number(since_start(now));
    return to_.add(ChunkKind::set_end, set_, payload.bytes());
  };
  return in_order([&] { return write_facts(content); }, names, code, end);
}

Result<void> SetWriter::write_facts(const SetContent& content) {
  ChunkBuffer buffer(to_, ChunkKind::facts, set_);
  std::ostream out(&buffer);
  content.write_facts(out);
  return buffer.finish();
}

void SetWriter::put_source(PayloadWriter& row, std::string_view source) {
  const SourcePlace place = source_place(source);
  row.u32(strings_.number(place.file));
  row.u32(static_cast<std::uint32_t>(place.line));
}

/// Nanoseconds since the run's start; the smallest number: to the first or last execution.
void SetWriter::put_span(PayloadWriter& row, const CountedSpan& span) const {
  constexpr auto kOpen = std::numeric_limits<std::int64_t>::min();
  row.number(span.since ? since_start(*span.since) : kOpen);
  row.number(span.until ? since_start(*span.until) : kOpen);
}

Result<void> SetWriter::write_functions(const SetContent& content) {
  RowStream rows(to_, ChunkKind::functions, set_, strings_);
  for (const Function& function : content.named->functions) {
    PayloadWriter& row = rows.row();
    row.u32(strings_.add(function.name));
    row.u32(strings_.number(function.module));
    put_source(row, function.source);
    row.u32(static_cast<std::uint32_t>(function.kind));
    row.u32(function.calls ? kCallsKnown : 0);
    row.u64(function.self);
    row.u64(function.total);
    row.u64(function.calls.value_or(0));
    put_span(row, shared(content.context.counted, function.calls_span));
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  return rows.flush();
}

Result<void> SetWriter::write_names(const NamedProfile& named) {
  RowStream rows(to_, ChunkKind::names, set_, strings_);
  for (std::size_t place = 0; place + 1 < named.first_of_step.size(); ++place) {
    const std::size_t first = named.first_of_step[place];
    const std::size_t count = named.first_of_step[place + 1] - first;
    PayloadWriter& row = rows.row();
    row.u32(static_cast<std::uint32_t>(count));
    for (const NamedStep& step : std::span(named.steps).subspan(first, count)) {
      row.u32(step.function);
      row.u32(step.inlined ? kInlined : 0);
      put_source(row, step.source == SourceTally::kUnknown ? std::string_view()
                                                           : named.sources[step.source]);
      row.u64(step.start);
    }
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  return rows.flush();
}

Result<void> SetWriter::write_sums(const Profile& profile) {
  RowStream rows(to_, ChunkKind::sums, set_, strings_);
  for (const Profile::Node& node : profile.nodes()) {
    rows.row().u64(node.samples);
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  return rows.flush();
}

Result<void> SetWriter::write_code(const SetContent& content) {
  RowStream rows(to_, ChunkKind::code, set_, strings_);
  for (const CodeFunction& function : content.code->functions) {
    PayloadWriter& row = rows.row();
    row.u32(static_cast<std::uint32_t>(function.module));
    row.u32(strings_.add(function.name));
    row.u64(function.start);
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  return rows.flush();
}

Result<void> SetWriter::write_blocks(const SetContent& content) {
  RowStream rows(to_, ChunkKind::blocks, set_, strings_);
  for (const NamedBlock& named : content.code->blocks) {
    const CodeBlock& block = named.block;
    PayloadWriter& row = rows.row();
    row.u32(named.function);
    row.u32(block.size);
    row.u32(block.instructions);
    row.u32(0);
    row.u64(block.start.offset);
    row.u64(block.hits);
    row.u64(named.samples);
    row.number(since_start(block.first_hit));
    row.number(since_start(block.last_hit));
    put_span(row, shared(content.context.counted, block.span));
    put_source(row, named.source);
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  return rows.flush();
}

Result<void> SetWriter::write_edges(const SetContent& content) {
  RowStream rows(to_, ChunkKind::edges, set_, strings_);
  for (const CountedEdge& edge : content.code->edges) {
    PayloadWriter& row = rows.row();
    row.u32(static_cast<std::uint32_t>(edge.from.module));
    row.u32(static_cast<std::uint32_t>(edge.to.module));
    row.u64(edge.from.offset);
    row.u64(edge.to.offset);
    row.u64(edge.hits);
    row.u32(static_cast<std::uint32_t>(edge.flow));
    row.u32(0);
    put_span(row, shared(content.context.counted, edge.span));
    if (auto written = rows.end_row(); !written) {
      return written;
    }
  }
  return rows.flush();
}

}  // namespace sp::profiler
