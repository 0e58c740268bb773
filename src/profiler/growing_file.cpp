#include "profiler/growing_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sp::profiler {

core::Result<void> GrowingFile::append(std::span<const std::byte> bytes) {
  if (auto written = write_at(size_, bytes); !written) {
    // Frees what was written of it, too, for the files that are still to come.
    (void)::ftruncate(fd_.get(), static_cast<off_t>(size_));
    return written;
  }
  size_ += bytes.size();
  return {};
}

core::Result<void> GrowingFile::replace(std::uint64_t offset, std::span<const std::byte> bytes) {
  return write_at(offset, bytes);
}

bool GrowingFile::has_name() const {
  struct stat status {};
  return ::fstat(fd_.get(), &status) == 0 && status.st_nlink > 0;
}

core::Result<void> GrowingFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    } else if (errno != EINTR) {
      return core::fail_errno("writing " + path_);
    }
  }
  return {};
}

}  // namespace sp::profiler
