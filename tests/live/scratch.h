#pragma once

#include <elf.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A traced child that runs single instructions on the CPU.
namespace sp::test {

// Low enough for 32-bit addresses and displacements to reach it.
inline constexpr std::uint64_t kScratch = 0x10000000;
inline constexpr std::size_t kScratchSize = 4096;
inline constexpr std::uint64_t kCode = kScratch + 64;
inline constexpr std::uint64_t kMiddle = kScratch + kScratchSize / 2;
// A page for code that 32-bit displacements do not reach from it.
inline constexpr std::uint64_t kFarCode = 0x551000000000;

using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t limit) { return random() % limit; }
inline bool one_in(Random& random, std::uint64_t n) { return below(random, n) == 0; }

/// The CPU's name from /proc/cpuinfo: the model, or on AArch64 implementer and part.
inline std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string model;
  std::string line;
  while (std::getline(cpuinfo, line) && !line.empty()) {  // up to the end of the first CPU's
    const bool names_it = line.starts_with("model name") || line.starts_with("CPU implementer") ||
                          line.starts_with("CPU part");
    if (const auto colon = line.find(": "); names_it && colon != std::string::npos) {
      model += (model.empty() ? "" : " ") + line.substr(colon + 2);
    }
  }
  return model;
}

/// Reports which CPU a differential test ran on and with which seed: as properties, as a line of
/// output, and for SCOPED_TRACE, so that every failure says it too.
inline std::string record_run(Random::result_type seed) {
  const std::string model = cpu_model();
  testing::Test::RecordProperty("cpu", model);
  testing::Test::RecordProperty("seed", std::to_string(seed));
  std::string run = "CPU: " + model + ", seed: " + std::to_string(seed);
  std::cout << run << '\n';
  return run;
}

/// The test's own seed, changed by --gtest_random_seed.
inline Random::result_type seed_from(Random::result_type own) {
  return own + static_cast<Random::result_type>(GTEST_FLAG_GET(random_seed));
}

/// A stopped child that shares the scratch memory with the test and runs instructions on request.
template <typename Registers>
class ScratchCpu {
 public:
  ScratchCpu() : scratch_(map(kScratch)), far_code_(map(kFarCode)) {
    if (scratch_.empty() || far_code_.empty()) {
      return;
    }
    child_ = ::fork();
    if (child_ == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    int status = 0;
    ready_ = ::waitpid(child_, &status, 0) == child_ && WIFSTOPPED(status);
    initial_ = registers();
  }
  ScratchCpu(const ScratchCpu&) = delete;
  ScratchCpu& operator=(const ScratchCpu&) = delete;
  ~ScratchCpu() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    for (const std::span<std::byte> mapped : {scratch_, far_code_}) {
      if (!mapped.empty()) {
        ::munmap(mapped.data(), mapped.size());
      }
    }
  }

  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] pid_t pid() const { return child_; }
  [[nodiscard]] std::span<std::byte> scratch() const { return scratch_; }
  [[nodiscard]] std::span<std::byte> far_code() const { return far_code_; }
  [[nodiscard]] const Registers& initial() const { return initial_; }

  /// Runs one instruction; returns the registers afterwards and the signal that stopped the child.
  struct Outcome {
    Registers registers;
    int signal = 0;
  };
  Outcome step(Registers from) {
    for (const std::span<std::byte> code : {scratch_, far_code_}) {
      char* const begin = reinterpret_cast<char*>(code.data());
      __builtin___clear_cache(begin, begin + code.size());
    }
    iovec vector = {&from, sizeof from};
    EXPECT_EQ(::ptrace(PTRACE_SETREGSET, child_, NT_PRSTATUS, &vector), 0);
    EXPECT_EQ(::ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr), 0);
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return {registers(), WIFSTOPPED(status) ? WSTOPSIG(status) : 0};
  }

 private:
  static std::span<std::byte> map(std::uint64_t address) {
    void* mapped =
        ::mmap(std::bit_cast<void*>(address), kScratchSize, PROT_READ | PROT_WRITE | PROT_EXEC,
               MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) {
      return {};
    }
    return {static_cast<std::byte*>(mapped), kScratchSize};
  }

  [[nodiscard]] Registers registers() const {
    Registers now;
    iovec vector = {&now, sizeof now};
    EXPECT_EQ(::ptrace(PTRACE_GETREGSET, child_, NT_PRSTATUS, &vector), 0);
    return now;
  }

  std::span<std::byte> scratch_;
  std::span<std::byte> far_code_;
  pid_t child_ = -1;
  Registers initial_;
  bool ready_ = false;
};

/// Half of them point into the scratch memory, the others are edge cases of arithmetic.
inline std::uint64_t random_value(Random& random) {
  switch (below(random, 8)) {
    case 0:
      return below(random, 16);
    case 1:
      return ~0ULL << below(random, 64);
    case 2:
      return (1ULL << below(random, 64)) - 1;
    case 3:
      return random();
    default:
      return kMiddle + below(random, 1024) - 512;
  }
}

inline void fill(std::span<std::byte> memory, Random& random) {
  for (std::size_t at = 0; at + 8 <= memory.size(); at += 8) {
    const std::uint64_t value = random_value(random);
    std::memcpy(memory.data() + at, &value, sizeof value);
  }
}

inline std::string in_hex(std::span<const std::byte> code) {
  std::string text;
  for (const std::byte byte : code) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
    text += ' ';
  }
  return text;
}

/// Keeps this thread and the child on one CPU, where a step costs a third.
class OneCpu {
 public:
  explicit OneCpu(pid_t pid) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    ::sched_setaffinity(pid, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

}  // namespace sp::test
