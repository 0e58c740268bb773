// How long it takes to insert and to remove breakpoints in a child's code, N functions of 16 bytes,
// and how much memory they need. Arguments: N...
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/clock.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/exact/counted_code.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/probed_modules.h"
#include "supervisor/linux/proc_files.h"

namespace {

using sp::core::Address;

constexpr std::size_t kFunction = 16;

/// All code is functions of one block.
class EachItself final : public sp::supervisor::CodeAnalysis {
 public:
  bool wants(const File& /*file*/) override { return true; }
  bool wants_libraries() override { return false; }
  sp::core::InstrumentationCandidates plan(const File& /*file*/) override { return {}; }
  sp::core::ControlFlowGraph map(sp::core::AddressRange /*bounds*/, std::uint64_t /*bias*/,
                                 std::span<const Address> /*leaders*/, const Read& /*read*/,
                                 const sp::core::TableHints* /*hints*/) override {
    return {};
  }
  const sp::core::CodeReferences* references(const File& /*file*/) override { return nullptr; }
  bool jumps_through_pointers(const sp::core::ControlFlowGraph& /*graph*/,
                              sp::core::AddressRange /*bounds*/,
                              std::span<const std::byte> /*code*/) override {
    return false;
  }
  tl::expected<sp::core::FunctionCopy, sp::core::CopyRefusal> copy(
      const sp::core::FunctionToCopy& /*function*/, const sp::core::CopyPlace& /*place*/) override {
    return tl::unexpected(sp::core::CopyRefusal::not_on_this_cpu);
  }
  std::optional<std::uint64_t> symbol(const File& /*file*/, std::string_view /*name*/) override {
    return std::nullopt;
  }
};

std::string file_of_functions(std::size_t count) {
  std::string path = "/tmp/sp_inserting_XXXXXX";
  const int file = ::mkstemp(path.data());
  ::close(file);
  std::string function(kFunction, '\x90');  // nops, ret
  function.back() = '\xC3';
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < count; ++i) {
    out << function;
  }
  return path;
}

struct Child {
  pid_t pid = 0;
  Address code;
};

Child start(const std::string& path, std::size_t size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  ::close(file);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      ::pause();
    }
  }
  ::munmap(at, size);
  return {pid, Address{reinterpret_cast<std::uint64_t>(at)}};
}

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1e6;
}

double seconds_since(sp::core::TimePoint begin) {
  return std::chrono::duration<double>(sp::core::Clock::now() - begin).count();
}

std::vector<sp::core::Mapping> maps_of(pid_t pid) {
  return sp::core::parse_maps(
      sp::supervisor::read_proc(fmt::format("/proc/{}/maps", pid)).value_or(""));
}

/// Inserts with `insert` into `code`, and removes again.
template <typename Insert>
void measure(const char* what, std::size_t count, sp::supervisor::BreakpointTable& code,
             const Insert& insert) {
  const double before = resident_megabytes();
  const auto begin = sp::core::Clock::now();
  insert();
  const double inserting = seconds_since(begin);
  const double memory = resident_megabytes() - before;
  const auto taking = sp::core::Clock::now();
  code.restore_all();
  fmt::print("{:>9} {}: inserted in {:.3f} s, removed in {:.3f} s, {:.0f} MB ({:.0f} bytes each)\n",
             count, what, inserting, seconds_since(taking), memory,
             memory * 1e6 / static_cast<double>(count));
}

void plant_at_once(std::size_t count, const Child& child, sp::supervisor::Guardian& guardian) {
  EachItself each;
  sp::core::InstrumentationCandidates plan;
  for (std::size_t i = 0; i < count; ++i) {
    plan.functions.push_back({i * kFunction, (i + 1) * kFunction, {}});
  }
  sp::supervisor::ProbedCode code({child.pid, 1}, child.pid, each, guardian);
  code.set_maps(maps_of(child.pid));
  measure("at once (default mode)", count, code, [&] {
    instrument_module(code, plan, child.code.value(), {child.code, child.code + count * kFunction},
                      {});
  });
}

void plant_one_by_one(std::size_t count, const Child& child, sp::supervisor::Guardian& guardian) {
  sp::supervisor::CountedCode code({child.pid, 1}, child.pid, true, guardian);
  code.set_maps(maps_of(child.pid));
  measure("one by one (exact mode, runs included)", count, code, [&] {
    for (std::size_t i = 0; i < count; ++i) {
      code.discover(child.code + i * kFunction);
    }
  });
}

/// In a process of its own, whose heap holds nothing of an earlier run.
template <typename Insert>
void alone(std::size_t count, const Insert& insert) {
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid != 0) {
    ::waitpid(pid, nullptr, 0);
    return;
  }
  auto guardian = sp::supervisor::Guardian::start();
  if (guardian) {
    const std::string path = file_of_functions(count);
    const Child child = start(path, count * kFunction);
    insert(count, child, *guardian);
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    ::unlink(path.c_str());
    guardian = sp::core::fail("");  // its destructor says goodbye
  }
  std::fflush(stdout);
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (sp::arch::Native::kName != "x86_64") {
    fmt::print("the code of this benchmark is x86_64's\n");
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    const auto count = static_cast<std::size_t>(std::atol(argv[i]));
    alone(count, plant_at_once);
    alone(count, plant_one_by_one);
  }
  return 0;
}
