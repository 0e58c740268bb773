#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/elf_image.h"
#include "core/fd.h"
#include "core/ids.h"
#include "core/mapping.h"

namespace sp::supervisor {

/// How to reach the files that a process sees.
struct ProcessFiles {
  core::ProcessId process;
  /// A live thread: /proc/TID works even if the leader is a zombie.
  pid_t tid = 0;
  /// "/proc/PID/root" if the process sees other files than we do, else "".
  std::string root;
};

/// "/proc/PID/root" if a thread has another mount namespace or another root directory than we have,
/// else "".
[[nodiscard]] std::string foreign_root(core::ProcessId process, pid_t tid);

/// Distinguishes two contents of one inode.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

/// The file of a mapping, opened.
struct OpenedFile {
  core::UniqueFd fd;
  FileStamp stamp;
};

/// Opens the very file that is mapped, not one that has got its name since: by /proc/TID/map_files
/// (needs a capability), else by path or /proc/TID/exe if inode or content agree; for a process
/// that has ended, by path and inode. Nothing if none can be opened.
[[nodiscard]] std::optional<OpenedFile> open_mapped_file(const ProcessFiles& process,
                                                         const core::Mapping& mapping);

/// Rebuilds the mapping's file from memory: from all mappings of it that the process cannot have
/// written to, at their file offsets. Null if that is not an ELF file.
[[nodiscard]] std::shared_ptr<const core::ElfImage> image_from_memory(
    const ProcessFiles& process, const core::Mapping& mapping,
    const std::vector<core::Mapping>& maps);

/// The load bias: what to add to an ELF address of the image to get its address in a process that
/// has this executable mapping of it. Nothing if the mapping contains no code of the image.
[[nodiscard]] std::optional<std::uint64_t> load_bias(const core::ElfImage& image,
                                                     const core::Mapping& mapping);

/// The bytes of a mapping; fewer if the process is gone.
[[nodiscard]] std::vector<std::byte> copy_mapping(const ProcessFiles& process,
                                                  const core::Mapping& mapping);

}  // namespace sp::supervisor
