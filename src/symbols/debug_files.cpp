#include "symbols/debug_files.h"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::shared_ptr<const core::MappedFile> open_file(const std::string& path) {
  auto file = core::MappedFile::open(path);
  return file ? *file : nullptr;
}

// The CRC of a debug link is the common CRC-32 (IEEE 802.3), which liblzma provides.
std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return lzma_crc32(static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data())),
                    bytes.size(), 0);
}

bool belongs(const core::MappedFile& file, const ElfSections& candidate,
             const std::string& build_id, std::uint32_t crc) {
  const std::string other = candidate.build_id();
  if (!build_id.empty() && !other.empty()) {
    return build_id == other;
  }
  return !candidate.all().empty() && crc_of(file.bytes()) == crc;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

}  // namespace

std::optional<DebugLink> read_debug_link(const ElfSections& sections) {
  const Section* section = sections.find(".gnu_debuglink");
  if (section == nullptr) {
    return std::nullopt;
  }
  const auto bytes = sections.bytes(*section);
  const std::string_view name = core::text_at(bytes, 0);
  const std::uint64_t behind = (name.size() + 1 + 3) / 4 * 4;
  const auto crc = core::read_at<std::uint32_t>(bytes, behind);
  if (!crc || !is_plain_name(name)) {
    return std::nullopt;
  }
  return DebugLink{name, *crc};
}

DebugFiles::DebugFiles(const std::vector<std::string>& debug_directories, const std::string& root,
                       DebugServer* server)
    : directories_(debug_directories), root_(root), server_(server) {
  constexpr const char* kSystem = "/usr/lib/debug";
  if (!root.empty()) {
    directories_.push_back(root + kSystem);
  }
  directories_.emplace_back(kSystem);
}

std::optional<DebugFile> DebugFiles::find_by_build_id(const std::string& build_id) const {
  constexpr std::size_t kShortest = 3;  // two digits name the folder
  if (build_id.size() < kShortest) {
    return std::nullopt;
  }
  for (const std::string& directory : directories_) {
    const std::string path = fmt::format("{}/.build-id/{}/{}.debug", directory,
                                         build_id.substr(0, 2), build_id.substr(2));
    auto file = open_file(path);
    if (file != nullptr && ElfSections(file).build_id() == build_id) {
      return DebugFile{path, std::move(file)};
    }
  }
  return std::nullopt;
}

std::optional<DebugFile> DebugFiles::find(const std::string& module_path,
                                          const ElfSections& sections,
                                          const std::string& build_id) const {
  auto found = find_by_build_id(build_id);
  if (!found) {
    found = find_by_link(module_path, sections, build_id);
  }
  return found ? std::move(found) : download(build_id, module_path);
}

std::optional<DebugFile> DebugFiles::download(const std::string& build_id,
                                              const std::string& whose) const {
  const auto path = server_ != nullptr ? server_->find(build_id, whose) : std::nullopt;
  auto file = path ? open_file(*path) : nullptr;
  if (file == nullptr || ElfSections(file).build_id() != build_id) {
    return std::nullopt;
  }
  return DebugFile{*path, std::move(file)};
}

std::optional<DebugFile> DebugFiles::find_by_link(const std::string& module_path,
                                                  const ElfSections& sections,
                                                  const std::string& build_id) const {
  const auto link = read_debug_link(sections);
  if (!link || !module_path.starts_with('/')) {
    return std::nullopt;
  }
  const std::string parent = parent_of(module_path);
  std::vector<std::string> folders{root_ + parent, root_ + parent + "/.debug"};
  for (const std::string& directory : directories_) {
    folders.push_back(directory + parent);
  }
  for (const std::string& folder : folders) {
    const std::string path = fmt::format("{}/{}", folder, link->name);
    if (path == root_ + module_path) {
      continue;
    }
    auto file = open_file(path);
    if (file != nullptr && belongs(*file, ElfSections(file), build_id, link->crc)) {
      return DebugFile{path, std::move(file)};
    }
  }
  return std::nullopt;
}

std::optional<DebugFile> DebugFiles::find_alternate(const std::string& debug_path,
                                                    const ElfSections& debug) const {
  const Section* section = debug.find(".gnu_debugaltlink");
  if (section == nullptr) {
    return std::nullopt;
  }
  const auto bytes = debug.bytes(*section);
  const std::string_view name = core::text_at(bytes, 0);
  const std::string build_id = hex(core::cut(bytes, name.size() + 1, 64));
  if (name.empty() || build_id.empty()) {
    return std::nullopt;
  }
  if (auto found = find_by_build_id(build_id)) {
    return found;
  }
  std::vector<std::string> paths;
  if (name.starts_with('/')) {
    paths = {root_ + std::string(name), std::string(name)};
  } else {
    paths = {fmt::format("{}/{}", parent_of(debug_path), name)};
  }
  for (const std::string& path : paths) {
    auto file = open_file(path);
    if (file != nullptr && ElfSections(file).build_id() == build_id) {
      return DebugFile{path, std::move(file)};
    }
  }
  return download(build_id, std::string(name));
}

std::optional<DwarfSources> find_dwarf(const std::shared_ptr<const core::ElfImage>& image,
                                       const std::string& path, const std::string& root,
                                       const std::vector<std::string>& debug_directories) {
  const DebugFiles files(debug_directories, root);
  ElfSections main(image);
  std::string main_path = path;
  if (!main.has_dwarf()) {
    const auto debug = files.find(path, main, image->build_id());
    if (!debug) {
      return std::nullopt;
    }
    main = ElfSections(debug->file);
    main_path = debug->path;
  }
  const auto alternate = files.find_alternate(main_path, main);
  return DwarfSources{main, alternate ? std::optional(ElfSections(alternate->file)) : std::nullopt};
}

}  // namespace sp::symbols
