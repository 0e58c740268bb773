#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

/// Reads the directory of a finished run.
namespace sp::annotate {

struct Block {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t hits = 0;
  std::string kind{};         // of the hits: "exact", "exact-since:2.000"
  std::uint64_t samples = 0;  // in it, if it was not counted to the end

  [[nodiscard]] bool contains(std::uint64_t at) const { return offset <= at && at - offset < size; }
};

/// One function in blocks.tsv.
struct CountedFunction {
  std::string module;  // path
  std::string name;
  std::uint64_t start = 0;
  std::string kind;           // of its blocks; "mixed" if they differ
  std::vector<Block> blocks;  // by offset
};

/// One module in run.json.
struct ModuleEntry {
  std::string path;
  std::string kind;  // "file", "vdso", "jit", "unknown"
  std::string build_id;
};

struct CountedRun {
  std::vector<CountedFunction> functions;  // by module and start
  std::vector<ModuleEntry> modules;
};

/// Errors: there is no run, it has no counts, or one of its files is damaged. Messages are for the
/// user.
[[nodiscard]] core::Result<CountedRun> read_run(const std::string& directory);

/// The rows of a blocks.tsv by function; for read_run() and tests. `name` is for messages.
[[nodiscard]] core::Result<std::vector<CountedFunction>> parse_blocks(std::string_view text,
                                                                      const std::string& name);

/// The functions that match `wanted`: an exact name, MODULE:NAME or MODULE:0xSTART, where MODULE is
/// a path or its last part.
[[nodiscard]] std::vector<const CountedFunction*> find_functions(const CountedRun& run,
                                                                 std::string_view wanted);
/// Up to `most` distinct names that contain `wanted`.
[[nodiscard]] std::vector<std::string> similar_names(const CountedRun& run, std::string_view wanted,
                                                     std::size_t most);
/// "module:name" if unique, else "module:0x1234".
[[nodiscard]] std::string unique_name(const CountedRun& run, const CountedFunction& function);

}  // namespace sp::annotate
