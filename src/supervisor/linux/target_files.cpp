#include "supervisor/linux/target_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "supervisor/linux/process_vm.h"

namespace sp::supervisor {
namespace {

std::string read_link(const std::string& path) {
  std::array<char, 4096> buffer{};
  const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return length <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::optional<OpenedFile> open_regular(const std::string& path, struct stat& status) {
  core::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  const FileStamp stamp{status.st_ino, status.st_size,
                        status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
  return OpenedFile{std::move(fd), stamp};
}

/// Whether the file has the bytes that are in memory where it is mapped. A few may differ, because
/// of breakpoints.
bool has_same_bytes(const ProcessFiles& process, const core::Mapping& mapping, int fd) {
  std::array<std::byte, 4096> in_memory{};
  std::array<std::byte, 4096> in_file{};
  const std::size_t wanted = std::min<std::uint64_t>(in_memory.size(), mapping.range.size());
  const std::size_t had =
      copy_memory(process.tid, mapping.range.begin, std::span(in_memory).first(wanted));
  const ssize_t read = ::pread(fd, in_file.data(), had, static_cast<off_t>(mapping.file_offset));
  constexpr std::size_t kEnough = 64;
  if (read < 0 || static_cast<std::size_t>(read) != had || had < kEnough) {
    return false;
  }
  std::size_t different = 0;
  for (std::size_t i = 0; i < had; ++i) {
    different += in_memory[i] == in_file[i] ? 0U : 1U;
  }
  return different * 16 <= had;
}

bool is_mapped_file(const ProcessFiles& process, const core::Mapping& mapping,
                    const OpenedFile& file, const struct stat& status) {
  const std::uint32_t device = (major(status.st_dev) << 20U) | minor(status.st_dev);
  if (status.st_ino == mapping.inode && device == mapping.device) {
    return true;
  }
  // btrfs and overlayfs show other numbers in maps than in stat.
  return has_same_bytes(process, mapping, file.fd.get());
}

}  // namespace

std::string foreign_root(core::ProcessId process, pid_t tid) {
  const std::string theirs = fmt::format("/proc/{}", tid);
  const std::string mounts = read_link(theirs + "/ns/mnt");
  const std::string root = read_link(theirs + "/root");
  if (mounts.empty() || root.empty()) {
    return "";  // gone, or we may not read it
  }
  if (mounts == read_link("/proc/self/ns/mnt") && root == read_link("/proc/self/root")) {
    return "";
  }
  return fmt::format("/proc/{}/root", process.pid);
}

std::optional<OpenedFile> open_mapped_file(const ProcessFiles& process,
                                           const core::Mapping& mapping) {
  struct stat status {};
  const std::string base = fmt::format("/proc/{}", process.tid);
  auto file = open_regular(fmt::format("{}/map_files/{:x}-{:x}", base, mapping.range.begin.value(),
                                       mapping.range.end.value()),
                           status);
  if (file) {
    return file;
  }
  if (!mapping.deleted) {
    file = open_regular(base + "/root" + mapping.path, status);
    if (file && is_mapped_file(process, mapping, *file, status)) {
      return file;
    }
  }
  file = open_regular(base + "/exe", status);
  if (file && is_mapped_file(process, mapping, *file, status)) {
    return file;
  }
  if (mapping.deleted || !process.root.empty() || ::access(base.c_str(), F_OK) == 0) {
    return std::nullopt;
  }
  // The process is gone: there is no memory left to compare with.
  file = open_regular(mapping.path, status);
  return file && status.st_ino == mapping.inode ? std::move(file) : std::nullopt;
}

std::optional<std::uint64_t> load_bias(const core::ElfImage& image, const core::Mapping& mapping) {
  // A mapping begins at a page boundary, at or below its segment's first byte. lld lets two
  // segments share a page of the file, so the segment must also be executable.
  //   LOAD offset 0x670 vaddr 0x1670 R E, mapped 55d0c0a01000 r-xp 00000000: bias 0x55d0c0a00000
  std::optional<std::uint64_t> bias;
  for (const core::LoadSegment& segment : image.segments()) {
    const std::uint64_t from = segment.file_offset;
    const std::uint64_t to = from + segment.file_size;
    const std::uint64_t shown = mapping.file_offset;
    if (!segment.executable || shown >= to || from >= shown + mapping.range.size()) {
      continue;
    }
    const bool begins_here = shown <= from;
    if (!bias || !begins_here) {
      bias = mapping.range.begin.value() - shown + from - segment.address;
    }
  }
  return bias;
}

std::vector<std::byte> copy_mapping(const ProcessFiles& process, const core::Mapping& mapping) {
  std::vector<std::byte> bytes(mapping.range.size());
  bytes.resize(copy_memory(process.tid, mapping.range.begin, bytes));
  return bytes;
}

std::shared_ptr<const core::ElfImage> image_from_memory(const ProcessFiles& process,
                                                        const core::Mapping& mapping,
                                                        const std::vector<core::Mapping>& maps) {
  constexpr std::uint64_t kLargest = 512ULL << 20U;
  std::vector<std::byte> file;
  for (const core::Mapping& piece : maps) {
    if (piece.inode != mapping.inode || piece.device != mapping.device || !piece.readable ||
        piece.writable || piece.file_offset + piece.range.size() > kLargest) {
      continue;
    }
    const auto bytes = copy_mapping(process, piece);
    file.resize(std::max<std::size_t>(file.size(), piece.file_offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(piece.file_offset));
  }
  auto image = core::ElfImage::parse(core::MappedFile::copy(std::move(file)));
  return image ? *image : nullptr;
}

}  // namespace sp::supervisor
