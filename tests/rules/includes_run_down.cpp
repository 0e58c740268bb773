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
    {"rewriter", {"core", "arch"}},
    {"analyzer", {"core", "arch", "symbols", "rewriter"}},
    {"profiler", {"core", "symbols"}},
    {"cli", {"core"}},
    {"commands",
     {"core", "arch", "symbols", "rewriter", "supervisor", "analyzer", "profiler", "cli"}},
};

// The rooms of src/supervisor/, from the lowest to the highest, as in ARCHITECTURE.md: whose
// headers a room may include beside its own. "" are the files of src/supervisor/ itself.
const std::set<std::string> kEveryRoom = {"channels", "linux",     "startup",     "unwinding",
                                          "guardian", "injection", "breakpoints", "tracees",
                                          "sampling", "copies",    "instruments"};
const std::map<std::string, std::set<std::string>> kRoomMayInclude = {
    {"channels", {}},
    {"linux", {}},
    {"startup", {"linux", "channels"}},
    {"unwinding", {"linux"}},
    {"guardian", {"linux"}},
    {"injection", {"linux", "guardian"}},
    {"breakpoints", {"linux", "guardian", "injection"}},
    {"tracees", {"linux", "guardian"}},
    {"sampling", {"linux", "channels", "tracees"}},
    {"copies", {"linux", "guardian", "injection", "breakpoints", "tracees"}},
    {"instruments", kEveryRoom},
    {"instruments/probes", kEveryRoom},
    {"instruments/exact", kEveryRoom},
    {"", kEveryRoom},
};

// A third-party header, and the only files (path prefixes under src/) that know it.
const std::vector<std::pair<std::string, std::set<std::string>>> kKnownOnlyBy = {
    {"CLI/", {"cli/"}},
    {"capstone/", {"commands/annotate/"}},
    {"nlohmann/", {"commands/annotate/", "commands/run_files/"}},
    {"libunwind", {"supervisor/unwinding/"}},
    {"elfutils/", {"symbols/"}},
    {"elfutils/debuginfod.h", {"symbols/debug_server"}},
    {"dwarf.h", {"symbols/"}},
    {"libelf.h", {"symbols/"}},
    {"gelf.h", {"symbols/"}},
    {"toml++/", {"core/toml"}},
    {"xxhash.h", {"symbols/function_id"}},
    {"pcre2.h", {"symbols/whole_regex"}},
    {"sys/ptrace.h", {"supervisor/", "arch/"}},
    {"libiberty/", {"symbols/"}},
    {"zlib.h", {"profiler/gzip_stream"}},
    {"zstd.h", {"profiler/recording/compression"}},
    {"snappy", {"profiler/spoor/snappy"}},
    {"curl/", {"profiler/push/http_post"}},
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

/// "supervisor/instruments/probes/probe_counter.h" -> "instruments/probes"; "" for the files of
/// src/supervisor/ itself.
std::string room_of(const std::string& path) {
  const fs::path room = fs::path(path).parent_path().lexically_relative("supervisor");
  return room == "." ? "" : room.string();
}

/// The room of one instrument.
bool is_instrument(const std::string& room) { return room.starts_with("instruments/"); }

TEST(Rooms, are_those_of_the_table) {
  std::set<std::string> rooms;
  const fs::path supervisor = fs::path(SP_SOURCE_DIR) / "src/supervisor";
  for (const auto& entry : fs::recursive_directory_iterator(supervisor)) {
    if (entry.is_directory()) {
      rooms.insert(entry.path().lexically_relative(supervisor).string());
    }
  }
  rooms.insert("");
  std::set<std::string> in_table;
  for (const auto& [room, may_include] : kRoomMayInclude) {
    in_table.insert(room);
  }
  EXPECT_EQ(rooms, in_table);
}

TEST(Rooms, include_only_what_lies_below_them) {
  std::size_t checked = 0;
  for (const Include& include : all_includes()) {
    if (!include.quoted || include.folder != "supervisor" ||
        !include.header.starts_with("supervisor/")) {
      continue;
    }
    const std::string from = room_of(include.file);
    const std::string to = room_of(include.header);
    const auto rule = kRoomMayInclude.find(from);
    ASSERT_NE(rule, kRoomMayInclude.end()) << from << " is not in the table";
    EXPECT_TRUE(to == from || rule->second.contains(to))
        << include.file << " includes " << include.header;
    ++checked;
  }
  EXPECT_GT(checked, 200U);
}

TEST(Rooms, only_the_wiring_knows_which_instruments_there_are) {
  std::size_t checked = 0;
  for (const Include& include : all_includes()) {
    if (!include.header.starts_with("supervisor/") || !is_instrument(room_of(include.header))) {
      continue;
    }
    const bool is_own =
        include.folder == "supervisor" && room_of(include.file) == room_of(include.header);
    EXPECT_TRUE(is_own || include.file.starts_with("commands/record/instrument_choice"))
        << include.file << " includes " << include.header;
    ++checked;
  }
  EXPECT_GT(checked, 20U);
}

TEST(Rooms, only_main_lies_loose_in_src) {
  for (const auto& entry : fs::directory_iterator(fs::path(SP_SOURCE_DIR) / "src")) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(entry.is_directory() || name == "main.cpp" || name == "CMakeLists.txt") << name;
  }
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
