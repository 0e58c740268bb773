#include "commands/annotate/finished_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "commands/run_files/tsv_file.h"

namespace sp::annotate {
namespace {

using core::fail;
using core::Result;
using run_files::cut;
using run_files::parse_number;
using run_files::unescaped;

std::optional<std::string> contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Finds columns by their names: a later version may add some.
class Row {
 public:
  static constexpr std::array<std::string_view, 7> kColumns = {
      "module", "offset", "function", "function_offset", "size", "hits", "kind"};

  /// False if a column is missing.
  bool read_header(std::string_view line) {
    for (std::size_t at = 0; !line.empty(); ++at) {
      const std::string_view name = cut(line, '\t');
      const auto* column = std::find(kColumns.begin(), kColumns.end(), name);
      if (column != kColumns.end()) {
        places_.emplace(at, column - kColumns.begin());
      }
    }
    return places_.size() == kColumns.size();
  }
  void read(std::string_view line) {
    cells_ = {};
    for (std::size_t at = 0; !line.empty(); ++at) {
      const std::string_view cell = cut(line, '\t');
      if (const auto place = places_.find(at); place != places_.end()) {
        cells_.at(static_cast<std::size_t>(place->second)) = cell;
      }
    }
  }
  [[nodiscard]] std::string_view operator[](std::string_view column) const {
    const auto* found = std::find(kColumns.begin(), kColumns.end(), column);
    return cells_.at(static_cast<std::size_t>(found - kColumns.begin()));
  }

 private:
  std::map<std::size_t, std::ptrdiff_t> places_;
  std::array<std::string_view, kColumns.size()> cells_;
};

constexpr std::string_view kSampled = "sampled";
constexpr std::string_view kMixed = "mixed";

/// A module path that two files had in turn may have rows for both. A row of kind "sampled" belongs
/// to the row with the block's hits; its number is not a count.
void add_block(std::map<std::uint64_t, Block>& blocks, const Block& more) {
  Block& block = blocks[more.offset];
  block.offset = more.offset;
  block.size = std::max(block.size, more.size);
  if (more.kind == kSampled) {
    block.samples += more.hits;
    return;
  }
  block.hits += more.hits;
  block.kind = block.kind.empty() || block.kind == more.kind ? more.kind : kMixed;
}

/// Sorted by offset, without blocks that have only samples.
void keep_counted(CountedFunction& function, const std::map<std::uint64_t, Block>& blocks) {
  for (const auto& [offset, block] : blocks) {
    if (block.kind.empty()) {
      continue;
    }
    function.kind =
        function.blocks.empty() || function.kind == block.kind ? block.kind : std::string(kMixed);
    function.blocks.push_back(block);
  }
}

Result<std::vector<ModuleEntry>> parse_modules(const std::string& text, const std::string& path) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("modules") ||
      !json["modules"].is_array()) {
    return fail(path + " is not what superprofiler has written");
  }
  std::vector<ModuleEntry> modules;
  for (const auto& module : json["modules"]) {
    const auto text_of = [&module](const char* key) {
      const auto found = module.is_object() ? module.find(key) : module.end();
      return found != module.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
    };
    modules.push_back({text_of("path"), text_of("kind"), text_of("build_id")});
  }
  return modules;
}

}  // namespace

Result<std::vector<CountedFunction>> parse_blocks(std::string_view text, const std::string& name) {
  Row row;
  if (!row.read_header(cut(text, '\n'))) {
    return fail(name + " does not have the columns of a blocks.tsv");
  }
  struct Rows {
    CountedFunction function;
    std::map<std::uint64_t, Block> blocks;
  };
  std::map<std::tuple<std::string, std::uint64_t, std::string>, Rows> functions;
  for (std::size_t line = 2; !text.empty(); ++line) {
    row.read(cut(text, '\n'));
    const auto offset = parse_number(row["offset"]);
    const auto in_function = parse_number(row["function_offset"]);
    const auto size = parse_number(row["size"]);
    const auto hits = parse_number(row["hits"]);
    if (!offset || !in_function || !size || !hits || *in_function > *offset ||
        row["kind"].empty()) {
      return fail(fmt::format("{} is damaged: line {} is no row of a blocks.tsv", name, line));
    }
    const std::string module = unescaped(row["module"]);
    const std::string function = unescaped(row["function"]);
    const std::uint64_t start = *offset - *in_function;
    Rows& known = functions[{module, start, function}];
    known.function = {module, function, start, {}, {}};
    add_block(known.blocks, {*offset, *size, *hits, std::string(row["kind"])});
  }
  std::vector<CountedFunction> sorted;
  for (auto& [key, rows] : functions) {
    keep_counted(rows.function, rows.blocks);
    if (!rows.function.blocks.empty()) {
      sorted.push_back(std::move(rows.function));
    }
  }
  return sorted;
}

Result<CountedRun> read_run(const std::string& directory) {
  const std::string run_path = directory + "/run.json";
  const auto run_text = contents_of(run_path);
  if (!run_text) {
    return fail(
        fmt::format("there is no run in {} (no {}); give the directory that a run has written: {}",
                    directory, run_path, "output/PROGRAM-PID"));
  }
  auto modules = parse_modules(*run_text, run_path);
  if (!modules) {
    return tl::unexpected(modules.error());
  }
  const std::string blocks_path = directory + "/blocks.tsv";
  const auto blocks_text = contents_of(blocks_path);
  if (!blocks_text) {
    return fail(
        fmt::format("the run in {} has no counts (no {}); record it without -n, or with "
                    "superprofiler --single -- CMD",
                    directory, blocks_path));
  }
  auto functions = parse_blocks(*blocks_text, blocks_path);
  if (!functions) {
    return tl::unexpected(functions.error());
  }
  return CountedRun{std::move(*functions), std::move(*modules)};
}

std::vector<const CountedFunction*> find_functions(const CountedRun& run, std::string_view wanted) {
  std::vector<const CountedFunction*> found;
  for (const CountedFunction& function : run.functions) {
    const auto means = [&](std::string_view module) {
      if (!wanted.starts_with(module) || wanted.substr(module.size(), 1) != ":") {
        return false;
      }
      const std::string_view rest = wanted.substr(module.size() + 1);
      return rest == function.name ||
             (rest.starts_with("0x") && parse_number(rest) == function.start);
    };
    if (wanted == function.name || means(function.module) || means(base_name(function.module))) {
      found.push_back(&function);
    }
  }
  return found;
}

std::vector<std::string> similar_names(const CountedRun& run, std::string_view wanted,
                                       std::size_t most) {
  std::set<std::string> names;
  for (const CountedFunction& function : run.functions) {
    if (function.name.find(wanted) != std::string::npos && names.size() < most) {
      names.insert(function.name);
    }
  }
  return {names.begin(), names.end()};
}

std::string unique_name(const CountedRun& run, const CountedFunction& function) {
  const std::string_view base = base_name(function.module);
  for (const std::string& name : {fmt::format("{}:{}", base, function.name),
                                  fmt::format("{}:{}", function.module, function.name),
                                  fmt::format("{}:{:#x}", base, function.start)}) {
    if (find_functions(run, name).size() == 1) {
      return name;
    }
  }
  return fmt::format("{}:{:#x}", function.module, function.start);
}

}  // namespace sp::annotate
