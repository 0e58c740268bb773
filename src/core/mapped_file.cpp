#include "core/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/fd.h"

namespace sp::core {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return fail_errno("opening " + path);
  }
  return map(fd.get(), path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    return fail_errno("looking at " + name);
  }
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
    return fail("mapping " + name, EINVAL);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED) {
    return fail_errno("mapping " + name);
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->bytes_ = {static_cast<const std::byte*>(memory), size};
  file->mapped_ = true;
  return file;
}

std::shared_ptr<const MappedFile> MappedFile::copy(std::vector<std::byte> bytes) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->copy_ = std::move(bytes);
  file->bytes_ = file->copy_;
  return file;
}

MappedFile::~MappedFile() {
  if (mapped_) {
    // munmap takes a pointer to non-const and does not write through it.
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());  // NOLINT
  }
}

}  // namespace sp::core
