#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "symbols/debug_server.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// A separate debug file that is proven to belong to its module.
struct DebugFile {
  std::string path;
  std::shared_ptr<const core::MappedFile> file;
};

/// The contents of .gnu_debuglink: a file name and the CRC-32 of that file.
struct DebugLink {
  std::string_view name;
  std::uint32_t crc = 0;
};
[[nodiscard]] std::optional<DebugLink> read_debug_link(const ElfSections& sections);

/// Finds separate debug files as GDB does ("Debugging Information in Separate Files"): by build-id
/// below each debug directory, then by .gnu_debuglink beside the module, in its .debug/ and below
/// each debug directory. A candidate must have the right build-id, or CRC if it has none, so that a
/// replaced file is never taken for the one that was mapped.
class DebugFiles {
 public:
  /// `root` is prepended to the paths of the module's own file system; /usr/lib/debug is tried
  /// there and in superprofiler's own. What is in none of them is asked of `server`, which may be
  /// null and must outlive this.
  DebugFiles(const std::vector<std::string>& debug_directories, const std::string& root,
             DebugServer* server = nullptr);

  [[nodiscard]] std::optional<DebugFile> find(const std::string& module_path,
                                              const ElfSections& sections,
                                              const std::string& build_id) const;
  /// The file that dwz moved shared DWARF to (.gnu_debugaltlink of `debug`, which is `debug_path`).
  [[nodiscard]] std::optional<DebugFile> find_alternate(const std::string& debug_path,
                                                        const ElfSections& debug) const;

 private:
  [[nodiscard]] std::optional<DebugFile> find_by_build_id(const std::string& build_id) const;
  [[nodiscard]] std::optional<DebugFile> find_by_link(const std::string& module_path,
                                                      const ElfSections& sections,
                                                      const std::string& build_id) const;
  [[nodiscard]] std::optional<DebugFile> download(const std::string& build_id,
                                                  const std::string& whose) const;

  std::vector<std::string> directories_;
  std::string root_;
  DebugServer* server_;
};

/// The files with a module's DWARF.
struct DwarfSources {
  ElfSections main;
  std::optional<ElfSections> alternate;
};
/// The module's own file if it has DWARF, else its separate debug file; nothing if there is none.
/// No server is asked. `path` is the module's, `root` as of DebugFiles.
[[nodiscard]] std::optional<DwarfSources> find_dwarf(
    const std::shared_ptr<const core::ElfImage>& image, const std::string& path,
    const std::string& root, const std::vector<std::string>& debug_directories);

}  // namespace sp::symbols
