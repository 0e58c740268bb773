#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "commands/run_files/code_builder.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/recorded_run.h"
#include "commands/run_files/tsv_file.h"
#include "profiler/source_place.h"

namespace sp::run_files {
namespace {

using core::EdgeFlow;
using core::Result;
using profiler::RecordedCode;

constexpr std::string_view kSampled = "sampled";
constexpr std::string_view kToTheEnd = "exact";

std::optional<EdgeFlow> flow_of(std::string_view word) {
  constexpr auto kWords = std::to_array<std::pair<std::string_view, EdgeFlow>>({
      {"jump", EdgeFlow::jump},
      {"taken", EdgeFlow::taken},
      {"fallthrough", EdgeFlow::fallthrough},
      {"call", EdgeFlow::call},
      {"indirect", EdgeFlow::indirect},
      {"return", EdgeFlow::ret},
      {"entry", EdgeFlow::entry},
  });
  const auto* found = std::find_if(kWords.begin(), kWords.end(),
                                   [&](const auto& known) { return known.first == word; });
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

bool ends_early(std::string_view kind) { return kind.find("until:") != std::string_view::npos; }

bool add_block(const TsvFile& row, CodeBuilder& code) {
  const auto offset = row.number(1);
  const auto in_function = row.number(3);
  const auto size = row.number(4);
  const auto instructions = row.number(5);
  const auto hits = row.number(6);
  if (!offset || !in_function || !size || !instructions || !hits || *in_function > *offset) {
    return false;
  }
  profiler::SourcePlace source = profiler::source_place(row.text(8));
  code.add(CodeBuilder::Block{row.text(0), row.text(2), *offset - *in_function, *offset,
                              static_cast<std::uint32_t>(*size),
                              static_cast<std::uint32_t>(*instructions), *hits,
                              std::move(source.file), static_cast<std::uint32_t>(source.line),
                              row.raw(7) == kToTheEnd, ends_early(row.raw(7)), row.text(7)});
  return true;
}

Result<void> read_blocks(const std::string& path, CodeBuilder& code,
                         std::vector<std::string>& notes) {
  auto file = TsvFile::open(path, {"module", "offset", "function", "function_offset", "size",
                                   "instructions", "hits", "kind", "source"});
  if (!file) {
    return tl::unexpected(file.error());
  }
  while (file->next()) {
    if (file->raw(7) != kSampled && !add_block(*file, code)) {
      file->reject();
    }
  }
  if (!file->damage().empty()) {
    notes.push_back(file->damage());
  }
  return {};
}

Result<void> read_edges(const std::string& path, CodeBuilder& code,
                        std::vector<std::string>& notes) {
  auto file = TsvFile::open(
      path, {"module", "from_offset", "to_module", "to_offset", "hits", "flow", "kind"});
  if (!file) {
    return tl::unexpected(file.error());
  }
  while (file->next()) {
    const auto flow = flow_of(file->raw(5));
    const auto to = file->number(3);
    const auto hits = file->number(4);
    if (!flow || !to || !hits || (*flow != EdgeFlow::entry && !file->number(1))) {
      file->reject();
      break;
    }
    code.add({0, 0, *flow, file->number(1).value_or(0), *to, *hits, file->raw(6) == kToTheEnd,
              ends_early(file->raw(6))},
             file->text(0), file->text(2), file->text(6));
  }
  if (!file->damage().empty()) {
    notes.push_back(file->damage());
  }
  return {};
}

}  // namespace

Result<RecordedCode> read_code(const std::string& directory, std::vector<std::string>& notes) {
  if (is_only_recorded(directory, "blocks.tsv")) {
    return recorded_code(directory, notes);
  }
  CodeBuilder code;
  if (const auto read = read_blocks(directory + "/blocks.tsv", code, notes); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto read = read_edges(directory + "/edges.tsv", code, notes); !read) {
    return tl::unexpected(read.error());
  }
  return code.finish();
}

}  // namespace sp::run_files
