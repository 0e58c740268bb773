// A child computes something with its C and C++ libraries, one instruction at a time. In front of
// every instruction the flags and registers that LiveState calls dead are overwritten with random
// values. The results must be the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "arch/x86_64/flags.h"
#include "arch/x86_64/operands.h"
#include "live/scratch.h"
#include "rewriter/live_state.h"
#include "symbols/instrumentation_candidates.h"

namespace sp::rewriter {
namespace {

using arch::x86_64::Registers;
using core::Address;
using test::Random;

constexpr std::size_t kResultSize = 65536;

/// Something that uses much code and few instructions of each.
std::string work() {
  std::string result;
  std::array<char, 256> text{};
  for (int i = -2; i < 2; ++i) {
    const double x = std::ldexp(i + 0.1, 7 * i);
    std::snprintf(text.data(), text.size(), "%g %.17e %a %d %lx %-8s|%05d;", x, std::exp(x / 1e9),
                  std::sin(x), i, static_cast<unsigned long>(i) * 0x9E3779B97F4A7C15UL, "abc", i);
    result += text.data();
    std::snprintf(text.data(), text.size(), "%.6f", std::strtod(text.data(), nullptr));
    result += text.data();
  }
  std::vector<int> numbers;
  for (int i = 0; i < 24; ++i) {
    numbers.push_back(i * 7919 % 101);
  }
  std::qsort(numbers.data(), 12, sizeof(int), [](const void* left, const void* right) {
    return *static_cast<const int*>(left) - *static_cast<const int*>(right);
  });
  std::sort(numbers.begin() + 8, numbers.end());
  std::ostringstream out;
  for (const int number : numbers) {
    out << number << ' ' << std::hex << number * 65537 << std::dec << ',';
  }
  out << 3.14159 << ' ' << std::pow(2.5, 3.7);
  std::map<std::string, long> words;
  std::istringstream in("the quick brown fox and the cat 12 0x1f 99999999999");
  for (std::string word; in >> word;) {
    words[word] += std::strtol(word.c_str(), nullptr, 0) + 1;
  }
  for (const auto& [word, count] : words) {
    out << word << '=' << count << ';' << std::strlen(word.c_str()) << ::strchr(word.c_str(), 'o');
  }
  return result + out.str();
}

/// The functions of one file that this process has mapped, and so the child.
struct Module {
  std::uint64_t bias = 0;
  std::vector<core::CandidateFunction> functions;
};

/// Answers what is live anywhere in the code of this process.
class LiveCode {
 public:
  LiveCode() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(" r-xp ") != std::string::npos && line.find('/') != std::string::npos) {
        add_module(line);
      }
    }
  }

  /// Nothing where no function is known.
  std::optional<LiveBefore> before(Address pc) {
    auto module = modules_.upper_bound(pc.value());
    if (module == modules_.begin()) {
      return std::nullopt;
    }
    --module;
    const std::uint64_t own = pc.value() - module->second.bias;
    const auto& functions = module->second.functions;
    auto function = std::ranges::upper_bound(functions, own, {}, &core::CandidateFunction::begin);
    if (function == functions.begin() || own >= std::prev(function)->end) {
      return std::nullopt;
    }
    const LiveState& live = live_state(*std::prev(function), module->second.bias);
    if (!live.flags_across_calls().empty()) {
      return std::nullopt;
    }
    return live.before(pc);
  }
  [[nodiscard]] std::size_t functions() const { return states_.size(); }

 private:
  void add_module(const std::string& line) {
    std::istringstream fields(line);
    std::string range;
    std::string ignored;
    std::uint64_t offset = 0;
    fields >> range >> ignored >> std::hex >> offset;
    const std::uint64_t start = std::stoull(range, nullptr, 16);
    const std::string path = line.substr(line.find('/'));
    const auto file = core::MappedFile::open(path);
    const auto image = file ? core::ElfImage::parse(*file) : tl::unexpected(file.error());
    if (!image) {
      return;
    }
    const auto address = (*image)->address_of_file_offset(offset);
    if (address) {
      const auto sources = symbols::find_symbol_sources(*image, path, "", {});
      modules_[start] = {start - *address, symbols::find_candidates(**image, sources).functions};
    }
  }

  const LiveState& live_state(const core::CandidateFunction& function, std::uint64_t bias) {
    const core::AddressRange bounds{Address{function.begin + bias}, Address{function.end + bias}};
    const auto found = states_.find(bounds.begin);
    if (found != states_.end()) {
      return found->second;
    }
    std::vector<Address> leaders = {bounds.begin};
    for (const std::uint64_t pad : function.landing_pads) {
      leaders.push_back(Address{pad + bias});
    }
    const auto read = [](Address from, std::span<std::byte> into) {
      std::copy_n(std::bit_cast<const std::byte*>(from.value()), into.size(), into.begin());
      return into.size();
    };
    const auto graph = analyzer::build_control_flow_graph(bounds, leaders, read);
    const std::span code(std::bit_cast<const std::byte*>(bounds.begin.value()), bounds.size());
    return states_.emplace(bounds.begin, LiveState::of(graph, bounds, code)).first->second;
  }

  std::map<std::uint64_t, Module> modules_;  // by the start of the code in memory
  std::unordered_map<Address, LiveState> states_;
};

/// Overwrites what is dead; returns how many flags and registers that were.
unsigned scramble(Registers& registers, const LiveBefore& live, Random& random) {
  const std::uint64_t dead_flags = arch::x86_64::kArithmeticFlags & ~live.flags;
  registers.eflags = (registers.eflags & ~dead_flags) | (random() & dead_flags);
  unsigned count = static_cast<unsigned>(std::popcount(dead_flags));
  for (unsigned number = 0; number < 16; ++number) {
    if ((live.registers >> number & 1U) == 0) {
      arch::x86_64::general_register(registers, number) = random();
      ++count;
    }
  }
  return count;
}

/// The shared memory that the child puts its result in.
class Result {
 public:
  Result()
      : memory_(::mmap(nullptr, kResultSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                       0)) {}
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { ::munmap(memory_, kResultSize); }
  void put(const std::string& text) {
    std::memcpy(memory_, text.c_str(), std::min(text.size() + 1, kResultSize));
  }
  [[nodiscard]] std::string text() const { return static_cast<const char*>(memory_); }

 private:
  void* memory_;
};

TEST(DeadState, may_be_overwritten_anywhere) {
  const Random::result_type seed = test::seed_from(20261126);
  SCOPED_TRACE(test::record_run(seed));
  Random random(seed);
  LiveCode code;
  Result result;
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    result.put(work());
    ::raise(SIGUSR1);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const test::OneCpu one_cpu(child);
  std::size_t steps = 0;
  std::size_t scrambled = 0;
  std::size_t known = 0;
  while (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
         ::waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
         WSTOPSIG(status) == SIGTRAP) {
    ++steps;
    Registers registers;
    iovec vector = {&registers, sizeof registers};
    ::ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &vector);
    const auto live = code.before(Address{registers.rip});
    if (!live) {
      continue;
    }
    ++known;
    if (const unsigned count = scramble(registers, *live, random); count != 0) {
      scrambled += count;
      ::ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &vector);
    }
  }
  EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1)
      << "stopped by signal " << WSTOPSIG(status) << " after " << steps << " steps";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(result.text(), work());
  EXPECT_GT(known, steps / 2);
  EXPECT_GT(scrambled, steps);
  RecordProperty("steps", std::to_string(steps));
  RecordProperty("functions", std::to_string(code.functions()));
  RecordProperty("overwritten", std::to_string(scrambled));
}

}  // namespace
}  // namespace sp::rewriter
