#include "profiler/formats/coverage_tsv.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

constexpr std::string_view kHeader =
    "module\tbuild_id\toffset\tsize\tfunction\tfunction_offset\tfunction_size\tcovered\tkind\t"
    "first_us\tsource\tends\tleads_to\n";

struct FlowWord {
  core::Flow flow;
  std::string_view word;
};
constexpr auto kWords = std::to_array<FlowWord>({{core::Flow::next, "next"},
                                                 {core::Flow::jump, "jump"},
                                                 {core::Flow::branch, "branch"},
                                                 {core::Flow::call, "call"},
                                                 {core::Flow::indirect_jump, "indirect_jump"},
                                                 {core::Flow::indirect_call, "indirect_call"},
                                                 {core::Flow::ret, "return"},
                                                 {core::Flow::syscall, "syscall"},
                                                 {core::Flow::stop, "stop"}});

}  // namespace

std::string_view word_of(core::Flow flow) {
  const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const FlowWord& word) { return word.flow == flow; });
  return found == kWords.end() ? std::string_view() : found->word;
}

std::optional<core::Flow> flow_of(std::string_view word) {
  const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const FlowWord& known) { return known.word == word; });
  return found == kWords.end() ? std::nullopt : std::optional(found->flow);
}

void write_coverage_tsv(std::ostream& out, const CoverageTable& table) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  out << kHeader;
  fmt::memory_buffer text;
  const auto end = fmt::appender(text);
  const CoverageTable::Function* last = nullptr;
  std::string module;
  std::string name;
  for (const CoverageTable::Row& row : table.rows) {
    const CoverageTable::Function& function = table.functions[row.function];
    if (last != &function) {
      last = &function;
      module = fmt::format("{}\t{}", tsv_cell(table.modules[function.module].path),
                           table.modules[function.module].build_id);
      name = tsv_cell(function.name);
    }
    fmt::format_to(end, FMT_COMPILE("{}\t{:#x}\t{}\t{}\t{:#x}\t{}\t{}\t{}\t"), module, row.offset,
                   row.size, name, row.offset - function.begin, function.size, row.hits > 0 ? 1 : 0,
                   row.kind);
    if (row.first_us) {
      fmt::format_to(end, FMT_COMPILE("{}"), *row.first_us);
    }
    fmt::format_to(end, FMT_COMPILE("\t{}\t{}\t"), tsv_cell(row.source),
                   row.is_function ? kFunction : word_of(row.flow));
    if (row.leads_to) {
      fmt::format_to(end, FMT_COMPILE("{:#x}"), *row.leads_to);
    }
    text.push_back('\n');
    if (text.size() >= kPiece) {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
      text.clear();
    }
  }
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace sp::profiler
