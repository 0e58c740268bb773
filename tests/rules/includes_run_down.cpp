#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// The table of ARCHITECTURE.md: a folder, and whose headers it may include beside its own.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"core", {}},
    {"arch", {"core"}},
    {"symbols", {"core"}},
    {"supervisor", {"core", "arch"}},
    {"analyzer", {"core", "arch", "symbols"}},
    {"profiler", {"core", "symbols"}},
    {"cli", {"core"}},
    {"commands", {"core", "arch", "symbols", "supervisor", "analyzer", "profiler", "cli"}},
};

// A third-party header, and the only files (path prefixes under src/) that know it.
const std::vector<std::pair<std::string, std::set<std::string>>> kKnownOnlyBy = {
    {"CLI/", {"cli/"}},
    {"capstone/", {"commands/annotate/"}},
    {"nlohmann/", {"commands/annotate/"}},
    {"libunwind", {"supervisor/unwinding/"}},
    {"elfutils/", {"symbols/"}},
    {"dwarf.h", {"symbols/"}},
    {"libelf.h", {"symbols/"}},
    {"gelf.h", {"symbols/"}},
    {"sys/ptrace.h", {"supervisor/", "arch/"}},
    {"libiberty/", {"symbols/"}},
};

struct Include {
  std::string file;    // relative to src/
  std::string folder;  // "" for the files of src/ itself
  std::string header;
  bool quoted = false;
};

std::vector<Include> all_includes() {
  const fs::path src = fs::path(SP_SOURCE_DIR) / "src";
  const std::regex line_pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") {
      continue;
    }
    const fs::path relative = entry.path().lexically_relative(src);
    const std::string folder =
        relative.has_parent_path() ? relative.begin()->string() : std::string{};
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      if (std::regex_search(line, match, line_pattern)) {
        includes.push_back({relative.string(), folder, match[2], match[1] == "\""});
      }
    }
  }
  return includes;
}

TEST(Includes, run_down_between_folders) {
  std::size_t checked = 0;
  for (const Include& include : all_includes()) {
    if (!include.quoted || include.folder.empty()) {
      continue;
    }
    const std::string to = include.header.substr(0, include.header.find('/'));
    const auto rule = kMayInclude.find(include.folder);
    ASSERT_NE(rule, kMayInclude.end()) << "src/" << include.folder << " is not in the table";
    EXPECT_TRUE(to == include.folder || rule->second.contains(to))
        << include.file << " includes " << include.header;
    ++checked;
  }
  EXPECT_GT(checked, 20U);
}

TEST(Includes, third_party_headers_stay_in_their_files) {
  for (const Include& include : all_includes()) {
    for (const auto& [header, files] : kKnownOnlyBy) {
      if (!include.header.starts_with(header)) {
        continue;
      }
      bool allowed = false;
      for (const std::string& file : files) {
        allowed = allowed || include.file.starts_with(file);
      }
      EXPECT_TRUE(allowed) << include.file << " includes <" << include.header << ">";
    }
  }
}

TEST(Includes, only_native_h_asks_which_cpu_it_is) {
  const fs::path src = fs::path(SP_SOURCE_DIR) / "src";
  const std::regex cpu(R"(^\s*#\s*(if|ifdef|elif).*(__x86_64__|__aarch64__|__amd64__|__arm__))");
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file() ||
        entry.path().lexically_relative(src) == fs::path("arch/native.h")) {
      continue;
    }
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      EXPECT_FALSE(std::regex_search(line, cpu)) << entry.path() << ": " << line;
    }
  }
}

}  // namespace
