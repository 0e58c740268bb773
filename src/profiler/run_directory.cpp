#include "profiler/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <utility>

#include "profiler/file_stream.h"

namespace sp::profiler {
namespace {

constexpr std::size_t kLongestName = 200;  // NAME_MAX less what is appended

core::Result<void> check_name(const std::string& name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool plain = !name.empty() && name != "." && name != ".." && name.size() <= kLongestName &&
                     name.find('/') == std::string::npos &&
                     std::none_of(name.begin(), name.end(), is_control);
  if (!plain) {
    return core::fail(fmt::format(
        "the run's name \"{}\" is not usable as a directory's name: no slash, no control "
        "character, not \".\" or \"..\", 1 to {} bytes; choose another with --name",
        name, kLongestName));
  }
  return {};
}

/// mkdir -p
core::Result<void> make_parents(const std::string& path) {
  for (std::size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && errno != EISDIR) {
      const int code = errno;
      struct stat status {};
      // For a read-only or unreadable parent mkdir(2) fails with another error than EEXIST.
      if (::stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        return core::fail("making the directory " + part, code);
      }
    }
  }
  return {};
}

core::Result<core::UniqueFd> open_directory(const std::string& path) {
  core::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    return core::fail_errno("opening the directory " + path);
  }
  return fd;
}

std::string temporary_name(const std::string& name) { return "." + name + ".partial"; }

}  // namespace

core::Result<RunDirectory> RunDirectory::create(const std::string& directory,
                                                const std::string& name, bool overwrite) {
  if (const auto usable = check_name(name); !usable) {
    return tl::unexpected(usable.error());
  }
  const std::string base = directory.empty() ? "." : directory;
  if (const auto made = make_parents(base); !made) {
    return tl::unexpected(made.error());
  }
  const std::string path = base + (base.back() == '/' ? "" : "/") + name;
  const bool made_here = ::mkdir(path.c_str(), 0777) == 0;
  if (!made_here && errno != EEXIST) {
    return core::fail_errno("making the run's directory " + path);
  }
  if (!made_here && !overwrite) {
    return core::fail(
        fmt::format("{} exists already: choose another name with --name, or --overwrite", path));
  }
  auto fd = open_directory(path);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  // Tells others that the run goes on, whatever its files say: `ctl prune`.
  (void)::flock(fd->get(), LOCK_SH | LOCK_NB);
  RunDirectory run(path, std::move(*fd), made_here);
  const std::string probe = temporary_name("probe");
  core::UniqueFd file(
      ::openat(run.fd_.get(), probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) {
    return core::fail_errno("making a file in " + path);
  }
  ::unlinkat(run.fd_.get(), probe.c_str(), 0);
  return run;
}

core::Result<RunDirectory> RunDirectory::create_fallback(const std::string& name) {
  const char* wanted = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/superprofiler-{}-XXXXXX",
                                 wanted != nullptr && *wanted != '\0' ? wanted : "/tmp", name);
  if (::mkdtemp(path.data()) == nullptr) {
    return core::fail_errno("making a directory like " + path);
  }
  auto fd = open_directory(path);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  return RunDirectory(path, std::move(*fd), true);
}

RunDirectory::~RunDirectory() {
  // rmdir() removes only an empty directory, so no file is lost.
  if (fd_.valid() && made_here_ && made_.empty()) {
    ::rmdir(path_.c_str());
  }
}

core::Result<WrittenFile> RunDirectory::write(const std::string& name, const Writer& writer) {
  const std::string temporary = temporary_name(name);
  const auto bytes = write_whole(temporary, writer);
  if (!bytes) {
    ::unlinkat(fd_.get(), temporary.c_str(), 0);
    return core::fail(fmt::format("writing {}/{}", path_, name), bytes.error().code);
  }
  if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    const int code = errno;
    ::unlinkat(fd_.get(), temporary.c_str(), 0);
    return core::fail(fmt::format("renaming {0}/{1} to {0}/{2}", path_, temporary, name), code);
  }
  made_.insert(name);
  return WrittenFile{name, path_ + "/" + name, *bytes};
}

core::Result<std::uint64_t> RunDirectory::write_whole(const std::string& temporary,
                                                      const Writer& writer) {
  // Do not write through what a killed run left: it could be a link.
  ::unlinkat(fd_.get(), temporary.c_str(), 0);
  core::UniqueFd file(::openat(fd_.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) {
    return core::fail_errno("opening " + temporary);
  }
  FileBuffer buffer(file.get());
  std::ostream out(&buffer);
  writer(out);
  if (const int code = buffer.finish(); code != 0) {
    return core::fail("writing " + temporary, code);
  }
  // No fsync(2): on a busy disk it takes seconds for each file, and it protects only against a
  // crash of the machine. File systems that detect a full disk late report it on close.
  if (::close(file.release()) != 0) {
    return core::fail_errno("closing " + temporary);
  }
  return buffer.bytes_written();
}

core::Result<std::unique_ptr<GrowingFile>> RunDirectory::create_growing(const std::string& name) {
  // Do not write through what an earlier run left: it could be a link.
  ::unlinkat(fd_.get(), name.c_str(), 0);
  const std::string path = path_ + "/" + name;
  core::UniqueFd file(::openat(fd_.get(), name.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) {
    return core::fail_errno("opening " + path);
  }
  made_.insert(name);
  return std::make_unique<GrowingFile>(std::move(file), path);
}

void RunDirectory::remove_all() {
  for (const std::string& name : made_) {
    ::unlinkat(fd_.get(), name.c_str(), 0);
  }
  made_.clear();
  ::rmdir(path_.c_str());
}

void RunDirectory::remove(const std::string& name) {
  ::unlinkat(fd_.get(), name.c_str(), 0);
  made_.erase(name);
}

}  // namespace sp::profiler
