#include "commands/count/needed_libraries.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

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

/// Texts of a file's dynamic section.
struct Dynamic {
  std::vector<std::string> needed;
  std::string run_path;  // folders, separated by colons
};

Dynamic read_dynamic(const std::shared_ptr<const core::ElfImage>& image) {
  Dynamic dynamic;
  const symbols::ElfSections file(image);
  for (const symbols::Section& section : file.all()) {
    const symbols::Section* const strings = file.at(section.link);
    if (section.type != SHT_DYNAMIC || strings == nullptr) {
      continue;
    }
    const auto bytes = file.bytes(section);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= bytes.size(); at += sizeof(Elf64_Dyn)) {
      const auto entry = *core::read_at<Elf64_Dyn>(bytes, at);
      const std::string text(core::text_at(file.bytes(*strings), entry.d_un.d_val));
      if (entry.d_tag == DT_NEEDED) {
        dynamic.needed.push_back(text);
      } else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) {
        dynamic.run_path = text;
      }
    }
  }
  return dynamic;
}

/// The folders of a list; $ORIGIN is the file's own.
std::vector<std::string> split_path(std::string_view list, const std::string& origin) {
  constexpr std::string_view kOrigin = "$ORIGIN";
  std::vector<std::string> all;
  while (!list.empty()) {
    std::string one(list.substr(0, list.find(':')));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (const std::size_t at = one.find(kOrigin); at != std::string::npos) {
      one.replace(at, kOrigin.size(), origin);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> folders() {
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  std::vector<std::string> all = split_path(given != nullptr ? given : "", "");
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
  struct Needed {
    std::string name;
    std::vector<std::string> run_path;  // of the file that names it
  };
  std::deque<Needed> open;
  const auto add_needed = [&](const NamedFile& file) {
    Dynamic dynamic = read_dynamic(file.image);
    const auto run_path = split_path(dynamic.run_path, fs::path(file.path).parent_path().string());
    for (std::string& name : dynamic.needed) {
      if (known.insert(name).second) {
        open.push_back({std::move(name), run_path});
      }
    }
  };
  add_needed(files.front());
  for (; !open.empty(); open.pop_front()) {
    std::vector<std::string> places = open.front().run_path;
    places.insert(places.end(), all_folders.begin(), all_folders.end());
    for (const std::string& folder : places) {
      const std::string file = folder + "/" + open.front().name;
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
