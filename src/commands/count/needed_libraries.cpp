#include "commands/count/needed_libraries.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>

#include "arch/native.h"
#include "core/bytes.h"
#include "core/mapped_file.h"
#include "symbols/elf_sections.h"

namespace sp::count {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const core::ElfImage> open_elf(const std::string& path) {
  const auto file = core::MappedFile::open(path);
  const auto image = file ? core::ElfImage::parse(*file) : tl::unexpected(file.error());
  return image && (*image)->machine() == arch::Native::kElfMachine ? *image : nullptr;
}

std::vector<std::string> needed_names(const std::shared_ptr<const core::ElfImage>& image) {
  std::vector<std::string> names;
  const symbols::ElfSections file(image);
  for (const symbols::Section& section : file.all()) {
    const symbols::Section* const strings = file.at(section.link);
    if (section.type != SHT_DYNAMIC || strings == nullptr) {
      continue;
    }
    const auto bytes = file.bytes(section);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= bytes.size(); at += sizeof(Elf64_Dyn)) {
      const auto entry = *core::read_at<Elf64_Dyn>(bytes, at);
      if (entry.d_tag == DT_NEEDED) {
        names.emplace_back(core::text_at(file.bytes(*strings), entry.d_un.d_val));
      }
    }
  }
  return names;
}

std::vector<std::string> folders() {
  std::vector<std::string> all;
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  std::string_view rest = given != nullptr ? given : "";
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    all.emplace_back(one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  const std::string triplet = fmt::format("{}-linux-gnu", arch::Native::kName);
  for (const std::string folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}) {
    all.push_back(folder);
    all.push_back(fmt::format("{}/{}", folder, triplet));
  }
  return all;
}

}  // namespace

std::vector<NamedFile> find_needed(const std::string& path) {
  std::vector<NamedFile> files;
  auto program = open_elf(path);
  if (program == nullptr) {
    return files;
  }
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  files.push_back({error ? path : real.string(), "", true, std::move(program)});
  const std::vector<std::string> all_folders = folders();
  std::set<std::string> known;
  std::deque<std::string> open;
  const auto add_needed = [&](const NamedFile& file) {
    for (std::string& name : needed_names(file.image)) {
      if (known.insert(name).second) {
        open.push_back(std::move(name));
      }
    }
  };
  add_needed(files.front());
  for (; !open.empty(); open.pop_front()) {
    for (const std::string& folder : all_folders) {
      const std::string file = folder + "/" + open.front();
      if (auto image = open_elf(file)) {
        files.push_back({file, "", false, std::move(image)});
        add_needed(files.back());
        break;
      }
    }
  }
  return files;
}

}  // namespace sp::count
