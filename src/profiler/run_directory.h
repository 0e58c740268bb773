#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "core/fd.h"
#include "core/result.h"

namespace sp::profiler {

struct WrittenFile {
  std::string name;  // "run.json"
  std::string path;
  std::uint64_t bytes = 0;
};

/// DIR/NAME/, where a run's files go. Owns a descriptor of it, so that changing the working
/// directory or renaming a parent does not lead elsewhere. A directory that was made here and got
/// no file is removed again with the object.
class RunDirectory {
 public:
  using Writer = std::function<void(std::ostream&)>;

  /// Makes DIR and DIR/NAME and tries whether files can be made there, so that what is in the way
  /// is known before the target starts. Errors: a NAME that is no plain file name, a run that
  /// exists already without `overwrite`, and those of mkdir(2) and open(2).
  [[nodiscard]] static core::Result<RunDirectory> create(const std::string& directory,
                                                         const std::string& name, bool overwrite);
  /// A new directory under $TMPDIR or /tmp, for when the wanted one cannot be written any more.
  [[nodiscard]] static core::Result<RunDirectory> create_fallback(const std::string& name);

  RunDirectory(RunDirectory&&) noexcept = default;
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Writes a file under another name and renames it when it is whole and on the disk, so a reader
  /// finds the old one, the new one, or none. On an error the old one stays as it is.
  [[nodiscard]] core::Result<WrittenFile> write(const std::string& name, const Writer& writer);
  /// Removes a file of ours that an earlier run left; it is no error where there is none.
  void remove(const std::string& name);

 private:
  RunDirectory(std::string path, core::UniqueFd fd, bool made_here)
      : path_(std::move(path)), fd_(std::move(fd)), made_here_(made_here) {}

  [[nodiscard]] core::Result<std::uint64_t> write_whole(const std::string& temporary,
                                                        const Writer& writer);

  std::string path_;
  core::UniqueFd fd_;
  bool made_here_ = false;
  bool has_files_ = false;
};

}  // namespace sp::profiler
