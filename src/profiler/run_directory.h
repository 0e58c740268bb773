#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/fd.h"
#include "core/result.h"
#include "profiler/growing_file.h"

namespace sp::profiler {

struct WrittenFile {
  std::string name;  // "run.json"
  std::string path;
  std::uint64_t bytes = 0;
};

/// DIR/NAME/, the directory of a run's files. Owns a descriptor of it, so that a change of the
/// working directory or of a parent's name has no effect. The destructor removes the directory if
/// this object created it and wrote no file.
class RunDirectory {
 public:
  using Writer = std::function<void(std::ostream&)>;

  /// Creates DIR and DIR/NAME and checks that files can be created there, so that problems are
  /// known before the target starts. Errors: NAME is not a plain file name, the run exists and
  /// `overwrite` is false, and those of mkdir(2) and open(2).
  [[nodiscard]] static core::Result<RunDirectory> create(const std::string& directory,
                                                         const std::string& name, bool overwrite);
  /// A new directory under $TMPDIR or /tmp, for when the run's own can no longer be written.
  [[nodiscard]] static core::Result<RunDirectory> create_fallback(const std::string& name);

  RunDirectory(RunDirectory&&) noexcept = default;
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Writes a file under another name and renames it when it is complete, so that a reader finds
  /// the old one, the new one, or none. On an error the old one stays.
  [[nodiscard]] core::Result<WrittenFile> write(const std::string& name, const Writer& writer);
  /// An empty file that grows under its own name: what has been written can be read at any time.
  /// A file that an earlier run left is removed.
  [[nodiscard]] core::Result<std::unique_ptr<GrowingFile>> create_growing(const std::string& name);
  /// Removes a file; succeeds if there is none.
  void remove(const std::string& name);
  /// Removes the files of this run, and the directory if nothing else is in it. No more may follow.
  void remove_all();
  /// True if write() or create_growing() has made the file, and remove() has not removed it: it is
  /// of this run.
  [[nodiscard]] bool has_made(std::string_view name) const { return made_.contains(name); }

 private:
  RunDirectory(std::string path, core::UniqueFd fd, bool made_here)
      : path_(std::move(path)), fd_(std::move(fd)), made_here_(made_here) {}

  [[nodiscard]] core::Result<std::uint64_t> write_whole(const std::string& temporary,
                                                        const Writer& writer);

  std::string path_;
  core::UniqueFd fd_;
  bool made_here_ = false;
  std::set<std::string, std::less<>> made_;  // names of files
};

}  // namespace sp::profiler
