#include "profiler/html/html_report.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <ostream>
#include <span>

#include "profiler/html/number_stream.h"
#include "profiler/html/page_text.h"
#include "profiler/html/report_head.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// Nothing of it leaves the page: a browser refuses what the file does not contain itself.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
constexpr std::size_t kLongestTitle = 200;

/// Numbers in an element of the page.
class NumberColumn {
 public:
  NumberColumn(std::ostream& out, std::string_view id) : out_(out), numbers_(out) {
    out_ << "<script type=\"text/plain\" id=\"" << id << "\">";
  }
  void put(std::initializer_list<std::uint64_t> numbers) {
    for (const std::uint64_t number : numbers) {
      numbers_.put(number);
    }
  }
  void finish() {
    numbers_.finish();
    out_ << "</script>\n";
  }

 private:
  std::ostream& out_;
  NumberStream numbers_;
};

/// For each stack: how many functions of the one before it are not of it, how many new ones it has,
/// these, and its samples. Returns the sum of all.
std::uint64_t write_stacks(std::ostream& out, StackSource& stacks) {
  NumberColumn column(out, "data-stacks");
  std::uint64_t all = 0;
  std::vector<std::uint32_t> last;
  const StackSource::Visit write = [&](std::span<const std::uint32_t> frames,
                                       std::uint64_t samples) {
    const auto [own, other] = std::mismatch(frames.begin(), frames.end(), last.begin(), last.end());
    column.put({static_cast<std::uint64_t>(last.end() - other),
                static_cast<std::uint64_t>(frames.end() - own)});
    std::for_each(own, frames.end(), [&](std::uint32_t function) { column.put({function}); });
    column.put({samples});
    last.assign(frames.begin(), frames.end());
    all += samples;
  };
  stacks.for_each(write);
  column.finish();
  return all;
}

void write_sample_columns(std::ostream& out, std::span<const ReportSample> samples) {
  constexpr std::int64_t kMicrosecond = 1000;
  NumberColumn column(out, "data-samples");
  std::int64_t last = 0;
  for (const ReportSample& sample : samples) {
    const std::int64_t time = std::max(sample.time_ns / kMicrosecond, last);
    column.put({static_cast<std::uint64_t>(time - last), sample.thread,
                std::uint64_t{sample.stack} * 2 + (sample.blocked ? 1 : 0), sample.weight});
    last = time;
  }
  column.finish();
}

/// The numbers of the rows with the most hits, the first ones first.
template <typename Row>
std::vector<std::size_t> most_executed(std::span<const Row> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].hits > rows[b].hits; });
  order.resize(std::min(order.size(), kMostReportedCounts));
  return order;
}

void write_blocks(std::ostream& out, const RecordedCode& code) {
  NumberColumn column(out, "data-blocks");
  for (const std::size_t i : most_executed(std::span(code.blocks))) {
    const RecordedCode::Block& block = code.blocks[i];
    column.put({block.function, block.offset, block.size, block.instructions, block.hits,
                block.kind, block.file, block.line});
  }
  column.finish();
}

/// One more than the number of the function with a counted block there; 0 if there is none.
std::uint64_t function_with(const RecordedCode& code, std::uint32_t module, std::uint64_t offset) {
  const auto behind = std::upper_bound(
      code.functions.begin(), code.functions.end(), std::pair(module, offset),
      [&](const auto& at, const RecordedCode::Function& function) {
        return at.first == function.module ? at.second < function.start
                                           : code.modules[at.first] < code.modules[function.module];
      });
  const auto number = static_cast<std::uint32_t>(behind - code.functions.begin());
  if (number == 0 || code.functions[number - 1].module != module) {
    return 0;
  }
  const auto block =
      std::upper_bound(code.blocks.begin(), code.blocks.end(), std::pair(number - 1, offset),
                       [](const auto& at, const RecordedCode::Block& one) {
                         return at < std::pair(one.function, one.offset);
                       });
  const bool is_inside = block != code.blocks.begin() && std::prev(block)->function == number - 1 &&
                         offset - std::prev(block)->offset < std::prev(block)->size;
  return is_inside ? number : 0;
}

void write_edges(std::ostream& out, const RecordedCode& code) {
  NumberColumn column(out, "data-edges");
  for (const std::size_t i : most_executed(std::span(code.edges))) {
    const RecordedCode::Edge& edge = code.edges[i];
    const bool is_entry = edge.flow == core::EdgeFlow::entry;
    column.put({is_entry ? 0 : function_with(code, edge.from_module, edge.from),
                is_entry ? 0 : edge.from, function_with(code, edge.to_module, edge.to), edge.to,
                edge.hits, static_cast<std::uint64_t>(edge.flow), edge.kind,
                is_entry ? edge.to_module : edge.from_module, edge.to_module});
  }
  column.finish();
}

}  // namespace

void write_html_report(std::ostream& out, const HtmlReport& report) {
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      << "<meta http-equiv=\"Content-Security-Policy\" content=\"" << kPolicy << "\">\n"
      << "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
      << xml_text(elided(folded_blanks(report.run->command), kLongestTitle))
      << "</title>\n<style>\n"
      << page_style() << "</style>\n</head>\n<body>\n"
      << page_body();
  const std::uint64_t samples = write_stacks(out, *report.stacks);
  if (report.code != nullptr) {
    write_blocks(out, *report.code);
    write_edges(out, *report.code);
  }
  if (report.timeline != nullptr) {
    write_sample_columns(out, report.timeline->samples);
  }
  out << "<script type=\"application/json\" id=\"data-head\">\n";
  write_report_head(out, report, samples);
  out << "</script>\n<script>\n'use strict';\n(() => {\n"
      << page_script() << "})();\n</script>\n"
      << "</body>\n</html>\n";
}

}  // namespace sp::profiler
