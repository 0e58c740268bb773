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

/// Through whom a process's files are reached.
struct ProcessFiles {
  core::ProcessId process;
  /// A thread that is alive: /proc/TID works where the leader is a zombie.
  pid_t tid = 0;
  /// "/proc/PID/root" where the process sees other files than we do, else "".
  std::string root;
};

/// "/proc/TID/root" where a thread lives in another mount namespace or below another root than we
/// do, else "".
[[nodiscard]] std::string foreign_root(core::ProcessId process, pid_t tid);

/// Tells two contents of one inode apart.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

/// The file that a mapping shows, opened.
struct OpenedFile {
  core::UniqueFd fd;
  FileStamp stamp;
};

/// Opens the very file that is mapped, not one that has taken its name since: by
/// /proc/TID/map_files (needs a capability), else by path or /proc/TID/exe where inode or content
/// agree; of a process that has ended, by path and inode. Nothing where none can be had.
[[nodiscard]] std::optional<OpenedFile> open_mapped_file(const ProcessFiles& process,
                                                         const core::Mapping& mapping);

/// What memory still holds of the mapping's file, at its file offsets: all mappings of it that
/// the process cannot have written to. Null where that is no ELF file.
[[nodiscard]] std::shared_ptr<const core::ElfImage> image_from_memory(
    const ProcessFiles& process, const core::Mapping& mapping,
    const std::vector<core::Mapping>& maps);

/// What to add to an ELF address of the image to get its address in a process that has this
/// executable mapping of it. Nothing where the mapping shows no code of it.
[[nodiscard]] std::optional<std::uint64_t> load_bias(const core::ElfImage& image,
                                                     const core::Mapping& mapping);

/// The bytes of a mapping, short where the process is gone.
[[nodiscard]] std::vector<std::byte> copy_mapping(const ProcessFiles& process,
                                                  const core::Mapping& mapping);

}  // namespace sp::supervisor
