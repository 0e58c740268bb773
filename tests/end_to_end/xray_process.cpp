// The sleds of processes: their states are what the bytes in memory say.
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/fd.h"
#include "end_to_end/support.h"
#include "end_to_end/xray_support.h"

namespace sp::end_to_end {
namespace {

namespace fs = std::filesystem;

/// A line of the list as words.
struct Row {
  std::string id;
  std::string kind;
  std::uint64_t address = 0;
  std::string state;
};

std::vector<Row> rows_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<Row> rows;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Row row;
    std::string address;
    std::string always;
    words >> row.id >> row.kind >> address >> always >> row.state;
    row.address = std::stoull(address, nullptr, 16);
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> rows_of_process(pid_t pid) {
  const Outcome outcome = run(xray_of({"-p", std::to_string(pid)}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  return rows_of(outcome.out);
}

/// Where the file with that name is mapped; 0 if it is not.
std::uint64_t base_of(pid_t pid, const std::string& path) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path)) {
      return std::stoull(line, nullptr, 16);
    }
  }
  return 0;
}

void poke(pid_t pid, std::uint64_t address, const std::vector<unsigned>& values) {
  std::vector<unsigned char> bytes(values.begin(), values.end());
  const core::UniqueFd memory(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR));
  EXPECT_EQ(::pwrite(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)),
            static_cast<ssize_t>(bytes.size()));
}

bool is_arm() { return arch::Native::kElfMachine == EM_AARCH64; }

/// As XRay's runtime patches an entry.
std::vector<unsigned> patched_entry() {
  if (!is_arm()) {
    return {0x41, 0xBA, 1, 0, 0, 0, 0xE8, 1, 2, 3, 4};
  }
  return {0xE0, 0x7B, 0xBF, 0xA9, 0x60, 0, 0, 0x18, 0x70, 0, 0, 0x58, 0,    2,    0x3F, 0xD6,
          1,    0,    0,    0,    1,    2, 3, 4,    5,    6, 0, 0,    0xE0, 0x7B, 0xC1, 0xA8};
}

// The program does not go through its sleds any more when it loops.
TEST(XrayProcess, tells_the_states_of_a_process_as_they_are) {
  const std::string program = own_fixture("pie");
  Running running({program});
  ASSERT_TRUE(eventually([&] { return base_of(running.pid(), program) != 0; }));
  const std::uint64_t base = base_of(running.pid(), program);
  std::vector<Row> rows = rows_of_process(running.pid());
  ASSERT_EQ(rows.size(), 8U);
  for (const Row& row : rows) {
    EXPECT_EQ(row.state, "unpatched");
  }
  ASSERT_EQ(rows[0].kind, "function-enter");
  ASSERT_TRUE(eventually([&] { return cpu_ticks(running.pid()) > 2; }));  // it loops
  poke(running.pid(), base + rows[0].address, patched_entry());
  poke(running.pid(), base + rows[2].address,
       is_arm() ? std::vector<unsigned>{0, 0, 0x20, 0xD4} : std::vector<unsigned>{0xCC});
  poke(running.pid(), base + rows[4].address, {0, 0, 0, 0});
  rows = rows_of_process(running.pid());
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0].state, "patched");
  EXPECT_EQ(rows[1].state, "unpatched");
  EXPECT_EQ(rows[2].state, "by-us");
  EXPECT_EQ(rows[4].state, "unknown");
  EXPECT_EQ(status_of(running.pid(), "TracerPid"), "0");
  EXPECT_EQ(state_of(running.pid(), running.pid()), 'R');
}

TEST(XrayProcess, names_the_module_where_a_process_has_several_with_maps) {
  const std::string program = own_fixture("pie");
  const std::string library = own_fixture("shared");
  StartOptions options;
  options.environment = {"LD_PRELOAD=" + library};
  Running running({program}, options);
  ASSERT_TRUE(eventually([&] { return base_of(running.pid(), library) != 0; }));
  const auto rows = rows_of_process(running.pid());
  EXPECT_EQ(rows.size(), 14U);
  const auto count = [&](const std::string& prefix) {
    return std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.id.starts_with(prefix) && row.state == "unpatched";
    });
  };
  EXPECT_EQ(count(fs::path(program).filename().string() + ":"), 8);
  EXPECT_EQ(count(fs::path(library).filename().string() + ":"), 6);
  const Outcome yaml = run(xray_of({"--yaml", "-p", std::to_string(running.pid())}));
  EXPECT_EQ(yaml.out, "# " + program + "\n" + run(xray_of({"--yaml", program})).out + "# " +
                          library + "\n" + run(xray_of({"--yaml", library})).out);
}

TEST(XrayProcess, sees_what_the_runtime_of_a_program_has_patched) {
  if (!has_program("clang++")) {
    GTEST_SKIP() << "clang++ is not installed";
  }
  const TempDir directory;
  write_file(directory / "patched.cpp",
             "#include <cstdio>\n#include <unistd.h>\n"
             "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
             "int main() { std::printf(\"%d ready\\n\", f(7)); std::fflush(stdout);\n"
             "  char c; return static_cast<int>(::read(0, &c, 1)); }\n");
  const std::string program = directory / "patched";
  const Outcome built =
      run({"clang++", "-O1", "-fxray-instrument", "-fxray-instruction-threshold=1",
           directory / "patched.cpp", "-o", program});
  if (built.exit_status() != 0) {
    GTEST_SKIP() << "clang++ has no XRay runtime here: " << built.err;
  }
  StartOptions options;
  options.environment = {"XRAY_OPTIONS=patch_premain=true"};
  Running running({program}, options);
  ASSERT_TRUE(running.says("13 ready\n"));
  const auto rows = rows_of_process(running.pid());
  ASSERT_GE(rows.size(), 4U);
  for (const Row& row : rows) {
    EXPECT_EQ(row.state, "patched") << row.id << " " << row.kind;
  }
  for (const Row& row : rows_of(run(xray_of({program})).out)) {
    EXPECT_EQ(row.state, "unpatched");
  }
  running.close_input();
  EXPECT_EQ(running.wait().exit_status(), 0);
}

TEST(XrayProcess, says_in_one_line_why_it_cannot_read_a_process) {
  Running steady({target("steady"), "0", "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  expect_refused({"-p", std::to_string(steady.pid())}, 1,
                 "of process " + std::to_string(steady.pid()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([&] { return state_of(child, child) == 'Z'; }));
  expect_refused({"-p", std::to_string(child)}, 125, "zombie");
  ::waitpid(child, nullptr, 0);
  expect_refused({"-p", std::to_string(child)}, 125, std::to_string(child));
}

}  // namespace
}  // namespace sp::end_to_end
