#include "commands/run_files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ostream>

#include "core/fd.h"
#include "core/progress_line.h"
#include "profiler/file_stream.h"

namespace sp::run_files {
namespace {

using core::Result;

Result<std::uint64_t> write_to(int fd, const std::string& name,
                               const std::function<void(std::ostream&)>& writer) {
  profiler::FileBuffer buffer(fd);
  std::ostream out(&buffer);
  writer(out);
  if (const int code = buffer.finish(); code != 0) {
    return core::fail("writing " + name, code);
  }
  return buffer.bytes_written();
}

/// A device, a pipe: there is nothing to rename.
bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

Result<std::uint64_t> write_output(const std::string& path,
                                   const std::function<void(std::ostream&)>& writer) {
  if (path == "-") {
    return write_to(STDOUT_FILENO, "stdout", writer);
  }
  const core::ProgressLine progress("writing " + path);
  const bool direct = is_special(path);
  const std::size_t name = path.rfind('/') + 1;
  const std::string temporary =
      direct ? path : fmt::format("{}.{}.partial", path.substr(0, name), path.substr(name));
  if (!direct) {
    ::unlink(temporary.c_str());  // what a killed conversion left
  }
  core::UniqueFd file(
      ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL), 0666));
  if (!file.valid()) {
    return core::fail_errno("opening " + temporary);
  }
  auto written = write_to(file.get(), path, writer);
  if (written && ::close(file.release()) != 0) {  // some file systems report a full disk here
    written = core::fail_errno("closing " + path);
  }
  if (written && !direct && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = core::fail_errno(fmt::format("renaming {} to {}", temporary, path));
  }
  if (!written && !direct) {
    ::unlink(temporary.c_str());
  }
  return written;
}

}  // namespace sp::run_files
