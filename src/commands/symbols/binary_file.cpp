#include "commands/symbols/binary_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/bytes.h"
#include "core/edit_distance.h"
#include "core/mapped_file.h"
#include "symbols/elf_sections.h"

namespace sp::symbols_command {
namespace {

namespace fs = std::filesystem;
using core::Result;

/// The file beside it whose name is nearest; "" if none is near.
std::string nearest_file(const fs::path& path) {
  const std::string name = path.filename();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, name.size() / 4) + 1;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::size_t distance = core::edit_distance(name, entry->path().filename().string());
    if (distance < least) {
      least = distance;
      nearest = path.has_parent_path() ? entry->path() : entry->path().filename();
    }
  }
  return nearest;
}

std::string meant_file(const std::string& path) {
  std::string meant = path.find('/') == std::string::npos ? found_on_path(path) : "";
  return meant.empty() ? nearest_file(path) : meant;
}

}  // namespace

std::string found_on_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string file = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return "";
}

Result<std::shared_ptr<const core::ElfImage>> open_elf_file(const std::string& path) {
  auto file = core::MappedFile::open(path);
  if (!file) {
    const std::string meant = file.error().code == ENOENT ? meant_file(path) : "";
    return meant.empty()
               ? tl::unexpected(file.error())
               : core::fail(fmt::format("{}; did you mean {}?", file.error().message(), meant));
  }
  auto image = core::ElfImage::parse(*std::move(file));
  if (!image) {
    return core::fail(
        fmt::format("{}: {}; give a program or a library", path, image.error().doing));
  }
  return image;
}

Result<std::shared_ptr<const core::ElfImage>> open_program(const std::string& path) {
  auto image = open_elf_file(path);
  if (!image) {
    return image;
  }
  const auto header = core::read_at<Elf64_Ehdr>((*image)->bytes(), 0);
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
    return core::fail(fmt::format("{} is {}; give a program or a library", path,
                                  header->e_type == ET_REL    ? "an object file, not linked yet"
                                  : header->e_type == ET_CORE ? "a core file"
                                                              : "no program"));
  }
  const symbols::ElfSections sections(*image);
  const auto& all = sections.all();
  const bool has_no_code = std::any_of(all.begin(), all.end(), [](const symbols::Section& one) {
    return (one.flags & SHF_EXECINSTR) != 0 && one.type == SHT_NOBITS;
  });
  if (has_no_code) {
    return core::fail(
        fmt::format("{} is a debug file without code; give the program, and this one's "
                    "folder with --debug-dir",
                    path));
  }
  return image;
}

}  // namespace sp::symbols_command
