#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run_directory.h"
#include "profiler/written_run.h"

namespace sp::profiler {

inline constexpr std::string_view kFlameGraph = "flamegraph.svg";
inline constexpr std::string_view kBlocks = "blocks.tsv";
inline constexpr std::string_view kEdges = "edges.tsv";
inline constexpr std::string_view kSymbols = "symbols.tsv";
inline constexpr std::string_view kTree = "tree.json";
inline constexpr std::string_view kLearnedRules = "learned.toml";

/// A file of a run.
struct Output {
  std::string name;
  RunDirectory::Writer writer;
};

/// Of a run that has `outputs`, and a recording.
[[nodiscard]] std::vector<std::string> names_of_files(const std::vector<Output>& outputs);

/// Writes the files, and removes those that an earlier run of the name has left, never one that
/// this run has made. Returns those that could not be written, in the same order.
[[nodiscard]] std::vector<Output> write_outputs(RunDirectory& directory,
                                                std::vector<Output> outputs, WrittenRun& written);

/// Writes what could not be written elsewhere, into a directory of its own.
void write_to_fallback(const std::vector<Output>& outputs, const std::string& run_name,
                       WrittenRun& written);

}  // namespace sp::profiler
