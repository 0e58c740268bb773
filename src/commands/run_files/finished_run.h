#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/run_files/run_stacks.h"
#include "core/result.h"
#include "profiler/recorded_run.h"

/// Reads the directory of a finished run.
namespace sp::run_files {

/// The run in `directory`, which may also be a recording. Of a run whose files are not there its
/// recording is read, here and below. Errors: there is no run, or run.json is damaged.
[[nodiscard]] core::Result<profiler::RecordedRun> read_run(const std::string& directory);

/// The text of a run.json. Error: it is damaged; `path` says which.
[[nodiscard]] core::Result<profiler::RecordedRun> parse_run(const std::string& text,
                                                            const std::string& path);

/// functions.tsv. Damage is added to `notes`; the rows before it are read.
[[nodiscard]] core::Result<std::vector<profiler::RecordedFunction>> read_functions(
    const std::string& directory, std::vector<std::string>& notes);

/// stacks.folded, with the functions of functions.tsv.
[[nodiscard]] core::Result<std::unique_ptr<RunStacks>> read_stacks(const std::string& directory,
                                                                   std::vector<std::string>& notes);

/// blocks.tsv and edges.tsv, in the same way.
[[nodiscard]] core::Result<profiler::RecordedCode> read_code(const std::string& directory,
                                                             std::vector<std::string>& notes);

/// The directory under `parent` whose run.json or recording was written last. Error: there is none.
[[nodiscard]] core::Result<std::string> newest_run(const std::string& parent);
/// The directory that a file of the run belongs in: that of the run, or of its recording.
[[nodiscard]] std::string directory_of(const std::string& run);
/// The directory that the user has named, or if that is "" the newest run's in output/.
[[nodiscard]] core::Result<std::string> named_or_newest_run(const std::string& named);

/// Prints the notes, and what of the stacks is damaged; what was read before that is in `output`
/// ("the file").
void print_notes(std::vector<std::string> notes, const RunStacks& stacks, std::string_view output);
void print_notes(const std::vector<std::string>& notes, std::string_view output);

}  // namespace sp::run_files
