#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "commands/run_files/finished_run.h"
#include "commands/run_files/tsv_file.h"

namespace sp::run_files {
namespace {

using core::EdgeFlow;
using core::Result;
using profiler::RecordedCode;

constexpr std::string_view kSampled = "sampled";
constexpr std::string_view kToTheEnd = "exact";

/// Numbers for texts, in the order in which they are met.
class Numbers {
 public:
  explicit Numbers(std::vector<std::string>& texts) : texts_(texts) {}
  std::uint32_t of(const std::string& text) {
    const auto [place, is_new] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) {
      texts_.push_back(text);
    }
    return place->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

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

class Reader {
 public:
  Reader() : modules_(code_.modules), files_(code_.files) { files_.of(""); }

  Result<void> read_blocks(const std::string& path, std::vector<std::string>& notes) {
    auto file = TsvFile::open(path, {"module", "offset", "function", "function_offset", "size",
                                     "instructions", "hits", "kind", "source"});
    if (!file) {
      return tl::unexpected(file.error());
    }
    while (file->next()) {
      if (file->raw(7) != kSampled && !add_block(*file)) {
        file->reject();
      }
    }
    if (!file->damage().empty()) {
      notes.push_back(file->damage());
    }
    return {};
  }

  Result<void> read_edges(const std::string& path, std::vector<std::string>& notes) {
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
      code_.edges.push_back({modules_.of(file->text(0)), modules_.of(file->text(2)), *flow,
                             file->number(1).value_or(0), *to, *hits, file->raw(6) == kToTheEnd,
                             ends_early(file->raw(6))});
    }
    if (!file->damage().empty()) {
      notes.push_back(file->damage());
    }
    return {};
  }

  RecordedCode finish() {
    sort_functions();
    std::sort(code_.blocks.begin(), code_.blocks.end(), [](const auto& a, const auto& b) {
      return std::tie(a.function, a.offset) < std::tie(b.function, b.offset);
    });
    return std::move(code_);
  }

 private:
  bool add_block(const TsvFile& row) {
    const auto offset = row.number(1);
    const auto in_function = row.number(3);
    const auto size = row.number(4);
    const auto instructions = row.number(5);
    const auto hits = row.number(6);
    if (!offset || !in_function || !size || !instructions || !hits || *in_function > *offset) {
      return false;
    }
    const std::uint32_t module = modules_.of(row.text(0));
    const auto [place, is_new] =
        functions_.try_emplace({module, *offset - *in_function, row.text(2)},
                               static_cast<std::uint32_t>(code_.functions.size()));
    if (is_new) {
      code_.functions.push_back({module, row.text(2), *offset - *in_function});
    }
    const SourcePlace source = source_place(row.text(8));
    code_.blocks.push_back(
        {place->second, files_.of(source.file), static_cast<std::uint32_t>(source.line),
         static_cast<std::uint32_t>(*size), static_cast<std::uint32_t>(*instructions), *offset,
         *hits, ends_early(row.raw(7))});
    code_.blocks_to_the_end += row.raw(7) == kToTheEnd ? 1 : 0;
    return true;
  }

  /// By module and start: blocks.tsv has the hottest first.
  void sort_functions() {
    std::vector<std::uint32_t> order(code_.functions.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const auto key = [this](std::uint32_t i) {
        const RecordedCode::Function& function = code_.functions[i];
        return std::tie(code_.modules[function.module], function.start, function.name);
      };
      return key(a) < key(b);
    });
    std::vector<std::uint32_t> new_number(order.size());
    std::vector<RecordedCode::Function> sorted;
    for (const std::uint32_t old : order) {
      new_number[old] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(code_.functions[old]));
    }
    code_.functions = std::move(sorted);
    for (RecordedCode::Block& block : code_.blocks) {
      block.function = new_number[block.function];
    }
  }

  RecordedCode code_;
  Numbers modules_;
  Numbers files_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::string>, std::uint32_t> functions_;
};

}  // namespace

Result<RecordedCode> read_code(const std::string& directory, std::vector<std::string>& notes) {
  Reader reader;
  if (const auto read = reader.read_blocks(directory + "/blocks.tsv", notes); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto read = reader.read_edges(directory + "/edges.tsv", notes); !read) {
    return tl::unexpected(read.error());
  }
  return reader.finish();
}

}  // namespace sp::run_files
