// The CPU executes random instructions twice, from states that differ in all flags and general
// registers that flag_effects() and register_effects() say are not read. The results must not
// differ, except in what passes through; what is said to be overwritten must not pass through.

#include <cpuid.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/x86_64/decoder.h"
#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/register_effects.h"
#include "live/x86_64/scratch_cpu.h"
#include "live/x86_64/undefined_flags.h"

namespace sp::arch::x86_64 {
namespace {

struct Effects {
  FlagEffects flags;
  RegisterEffects registers;
};
using EffectsOf = std::function<Effects(const Encoding&)>;

Effects effects_of(const Encoding& encoding) {
  return {flag_effects(encoding), register_effects(encoding)};
}

/// x87, SSE, AVX and AVX-512 registers with random contents, as PTRACE_SETREGSET takes them.
class VectorState {
 public:
  explicit VectorState(pid_t child) : child_(child) {
    state_.resize(16384);
    iovec vector = {state_.data(), state_.size()};
    if (::ptrace(PTRACE_GETREGSET, child_, NT_X86_XSTATE, &vector) == 0) {
      state_.resize(vector.iov_len);
    }
  }
  void randomize(Random& random) {
    constexpr std::size_t kFeatures = 464;     // Linux: the features that the CPU has
    constexpr std::size_t kPresent = 512;      // XSTATE_BV
    constexpr std::uint64_t kVectors = 0xE7U;  // x87, SSE, AVX, and three of AVX-512
    std::uint64_t features = 0;
    std::memcpy(&features, state_.data() + kFeatures, sizeof features);
    features &= kVectors;
    std::memcpy(state_.data() + kPresent, &features, sizeof features);
    constexpr std::size_t kX87 = 32;
    constexpr std::size_t kX87AndSse = 8 * 16 + 16 * 16;
    constexpr std::array<std::uint8_t, 6> kControl = {0x7F, 0x03, 0, 0, 0xFF, 0};  // 8 in use
    std::memcpy(state_.data(), kControl.data(), kControl.size());
    fill(std::span(state_).subspan(kX87, kX87AndSse), random);
    for (unsigned feature = 2; feature < 8; ++feature) {
      unsigned size = 0;
      unsigned offset = 0;
      unsigned c = 0;
      unsigned d = 0;
      const bool has = ((features >> feature) & 1U) != 0 &&
                       __get_cpuid_count(0xD, feature, &size, &offset, &c, &d) != 0;
      if (has && offset + size <= state_.size()) {
        fill(std::span(state_).subspan(offset, size), random);
      }
    }
  }
  void set() {
    iovec vector = {state_.data(), state_.size()};
    EXPECT_EQ(::ptrace(PTRACE_SETREGSET, child_, NT_X86_XSTATE, &vector), 0);
  }

 private:
  pid_t child_;
  std::vector<std::byte> state_;
};

bool uses_vectors(const Encoding& encoding) {
  if (encoding.map == OpcodeMap::one_byte) {
    return encoding.opcode >= 0xD8 && encoding.opcode <= 0xDF;
  }
  return encoding.map != OpcodeMap::two_byte || encoding.opcode < 0x40 ||
         (encoding.opcode >= 0x50 && encoding.opcode < 0x80) || encoding.opcode == 0xAE ||
         encoding.opcode >= 0xC0;
}

/// Flags that the manuals leave undefined, also after those that undefined_flags() does not know.
std::uint64_t not_compared(std::span<const std::byte> code, const Encoding& encoding) {
  const bool is_shift =
      encoding.map == OpcodeMap::one_byte && (encoding.opcode == 0xC0 || encoding.opcode == 0xC1 ||
                                              (encoding.opcode >= 0xD0 && encoding.opcode <= 0xD3));
  if (is_shift) {
    // Whether OF is kept, by rotates of more than one bit, is undefined too.
    return encoding.extension() < 4 ? kOverflow : kAdjust | kOverflow;
  }
  if (encoding.map == OpcodeMap::vector) {
    const bool is_bmi = encoding.opcode >= 0xF2 && encoding.opcode <= 0xF7;
    return is_bmi ? kAdjust | kParity | (encoding.opcode == 0xF7 ? kSign : 0) : 0;
  }
  return undefined_flags(code);
}

enum class Trial { same, different, faulted, skipped };

/// Runs instructions from pairs of states.
class Trials {
 public:
  explicit Trials(Random::result_type seed) : one_cpu_(cpu_.pid()), random_(seed) {
    fill(cpu_.scratch(), random_);
    if (ready()) {
      vectors_.emplace(cpu_.pid());
    }
  }
  [[nodiscard]] bool ready() const { return cpu_.ready(); }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] const std::string& difference() const { return difference_; }

  Trial run(std::span<const std::byte> code, const EffectsOf& effects_of) {
    const auto encoding = read_encoding(code);
    if (!encoding || !is_repeatable(*encoding)) {
      return Trial::skipped;
    }
    const Effects effects = effects_of(*encoding);
    if (effects.flags.reads == kArithmeticFlags && effects.registers.reads == 0xFFFF) {
      return Trial::skipped;
    }
    const Registers first = random_registers(random_, cpu_.initial());
    if (!reaches_scratch(first, *encoding)) {
      return Trial::skipped;
    }
    const Registers second = changed(first, effects);
    const auto scratch = cpu_.scratch();
    const auto at = scratch.begin() + static_cast<std::ptrdiff_t>(first.rip - kScratch);
    // The trap of a step over cpuid may come one instruction late: a nop then.
    constexpr std::byte kNop{0x90};
    std::fill_n(std::ranges::copy(code.first(encoding->length), at).out,
                code.size() - encoding->length, kNop);
    const std::vector<std::byte> memory(scratch.begin(), scratch.end());
    if (uses_vectors(*encoding)) {
      vectors_->randomize(random_);
    }
    const Cpu::Outcome after_first = step(first, *encoding);
    const std::vector<std::byte> expected(scratch.begin(), scratch.end());
    std::ranges::copy(memory, scratch.begin());
    const Cpu::Outcome after_second = step(second, *encoding);
    const bool same_memory = std::ranges::equal(expected, scratch);
    std::ranges::copy(memory, scratch.begin());
    difference_.clear();
    note(after_first.signal == after_second.signal, "signal");
    if (!difference_.empty() || after_first.signal != SIGTRAP) {
      return difference_.empty() ? Trial::faulted : Trial::different;
    }
    note(same_memory, "memory");
    note(after_first.registers.rip == after_second.registers.rip, "rip");
    compare_registers(first, after_first.registers, second, after_second.registers, effects);
    compare_flags(
        {first.eflags, after_first.registers.eflags, second.eflags, after_second.registers.eflags},
        effects.flags, not_compared(code.first(encoding->length), *encoding));
    return difference_.empty() ? Trial::same : Trial::different;
  }

 private:
  /// The same twice, and no harm to the child.
  static bool is_repeatable(const Encoding& encoding) {
    const auto flow = decode_flow(encoding);
    if (flow == core::Flow::syscall || flow == core::Flow::stop) {
      return false;
    }
    if (encoding.map == OpcodeMap::one_byte) {
      return encoding.opcode != 0x8E;  // mov ss puts the trap off
    }
    if (encoding.map == OpcodeMap::two_byte) {
      const bool is_random = encoding.opcode == 0xC7 && encoding.names_register();
      const bool is_time = encoding.opcode == 0x31 || encoding.modrm == 0xF9;
      return !is_random && !is_time;
    }
    return true;
  }
  static core::Flow decode_flow(const Encoding& encoding) {
    if (encoding.map == OpcodeMap::one_byte) {
      const bool traps = encoding.opcode == 0xCC || encoding.opcode == 0xCD ||
                         encoding.opcode == 0xF1 || encoding.opcode == 0xF4;
      return traps ? core::Flow::stop : core::Flow::next;
    }
    const bool is_syscall =
        encoding.map == OpcodeMap::two_byte && (encoding.opcode == 0x05 || encoding.opcode == 0x34);
    return is_syscall ? core::Flow::syscall : core::Flow::next;
  }

  /// Most other memory is not mapped. (The address of VEX forms is not known exactly.)
  static bool reaches_scratch(const Registers& registers, const Encoding& encoding) {
    const auto is_inside = [](std::uint64_t address) {
      return address >= kScratch && address < kScratch + kScratchSize;
    };
    return !encoding.names_memory() || encoding.map == OpcodeMap::vector ||
           is_inside(operand_address(registers, encoding));
  }

  Registers changed(const Registers& first, const Effects& effects) {
    Registers second = first;
    second.eflags ^= random_() & kArithmeticFlags & ~effects.flags.reads;
    for (unsigned number = 0; number < 16; ++number) {
      if ((effects.registers.reads >> number & 1U) == 0) {
        general_register(second, number) = random_value(random_) ^ random_();
      }
    }
    if (second.rsp != first.rsp) {
      second.rsp = canonical(second.rsp);
    }
    return second;
  }

  Cpu::Outcome step(const Registers& from, const Encoding& encoding) {
    if (uses_vectors(encoding)) {
      vectors_->set();
    }
    return cpu_.step(from);
  }

  void note(bool holds, const std::string& what) {
    if (!holds) {
      difference_ += what + ' ';
    }
  }

  void compare_registers(Registers first, Registers after_first, Registers second,
                         Registers after_second, const Effects& effects) {
    for (unsigned number = 0; number < 16; ++number) {
      const std::uint64_t one = general_register(after_first, number);
      const std::uint64_t two = general_register(after_second, number);
      const bool passes = one == general_register(first, number) &&
                          two == general_register(second, number) &&
                          (effects.registers.overwrites >> number & 1U) == 0;
      note(one == two || passes, "register " + std::to_string(number));
    }
  }

  struct FourFlags {
    std::uint64_t first;
    std::uint64_t after_first;
    std::uint64_t second;
    std::uint64_t after_second;
  };
  void compare_flags(const FourFlags& flags, const FlagEffects& effects, std::uint64_t ignored) {
    const std::uint64_t differ = flags.after_first ^ flags.after_second;
    const std::uint64_t changed =
        (flags.first ^ flags.after_first) | (flags.second ^ flags.after_second);
    const std::uint64_t passed = ~changed & ~effects.kills;
    const std::uint64_t wrong = differ & ~passed & ~ignored & kArithmeticFlags;
    note(wrong == 0, "flags " + std::to_string(wrong));
  }

  Cpu cpu_;
  OneCpu one_cpu_;
  std::optional<VectorState> vectors_;
  Random random_;
  std::string difference_;
};

enum class Form { one_byte, two_byte, three_byte_38, three_byte_3a, vex, evex };

struct Opcode {
  Form form;
  unsigned map;
  unsigned opcode;

  auto operator<=>(const Opcode&) const = default;
  [[nodiscard]] bool is_general() const {
    return form == Form::one_byte || form == Form::two_byte ||
           (form == Form::vex && map >= 2 && opcode >= 0xF0);  // BMI
  }
  /// Eight instructions, or one with eight kinds of counts.
  [[nodiscard]] bool is_group() const {
    constexpr std::array<unsigned, 13> kOneByte = {0x80, 0x81, 0x83, 0xC0, 0xC1, 0xD0, 0xD1,
                                                   0xD2, 0xD3, 0xF6, 0xF7, 0xFE, 0xFF};
    constexpr std::array<unsigned, 7> kTwoByte = {0xA4, 0xA5, 0xAC, 0xAD, 0xAE, 0xBA, 0xC7};
    return (form == Form::one_byte && std::ranges::count(kOneByte, opcode) != 0) ||
           (form == Form::two_byte && std::ranges::count(kTwoByte, opcode) != 0);
  }
};

/// Everything in front of the opcode. `turn` counts through what chooses the instruction.
std::vector<std::byte> random_prefix(Random& random, const Opcode& opcode, unsigned turn) {
  std::vector<std::byte> code;
  const auto put = [&code](std::uint64_t byte) {
    code.push_back(static_cast<std::byte>(byte & 0xFFU));
  };
  const unsigned mandatory = turn & 3U;
  const unsigned wide = (turn >> 2U & 1U) << 7U;
  const unsigned length = turn >> 3U;
  constexpr unsigned kAllChoices = 16;
  const bool is_free = turn >= kAllChoices && one_in(random, 3);
  const std::uint64_t unused = is_free ? random() & 0x78U : 0x78U;  // vvvv, where it is not used
  const std::uint64_t extension = one_in(random, 2) ? 7U : below(random, 8);
  if (opcode.form == Form::vex) {
    put(0xC4);
    put(extension << 5U | opcode.map);
    put(unused | wide | (length & 1U) << 2U | mandatory);
  } else if (opcode.form == Form::evex) {
    put(0x62);
    put(extension << 5U | 0x10U | opcode.map);
    put(unused | wide | 4U | mandatory);
    put((length % 3) << 5U | 8U | (one_in(random, 2) ? 0 : below(random, 8)));
  } else {
    constexpr std::array<unsigned, 4> kPrefixes = {0, 0x66, 0xF3, 0xF2};
    if (const unsigned prefix = kPrefixes[below(random, kPrefixes.size())]; prefix != 0) {
      put(prefix);
    }
    if (one_in(random, 2)) {
      put(0x40U | below(random, 16));
    }
    put(0x0F);
    put(opcode.form == Form::three_byte_38 ? 0x38 : 0x3A);
  }
  return code;
}

/// Random instructions with one opcode.
class Instructions {
 public:
  explicit Instructions(const Opcode& opcode) : opcode_(opcode) {}

  std::vector<std::byte> next(Random& random) {
    if (opcode_.form == Form::one_byte || opcode_.form == Form::two_byte) {
      return random_instruction(random, opcode_.form == Form::two_byte, opcode_.opcode);
    }
    const bool repeats = !works_.empty() && !one_in(random, 3);
    prefix_ = repeats ? works_ : random_prefix(random, opcode_, turn_++);
    std::vector<std::byte> code = prefix_;
    code.push_back(static_cast<std::byte>(opcode_.opcode));
    const bool may_have_memory = repeats && one_in(random, 4);
    const std::uint64_t modrm = may_have_memory ? random() : 0xC0U | random();
    code.push_back(static_cast<std::byte>(modrm & 0xFFU));
    while (code.size() < kLongestInstruction) {
      code.push_back(static_cast<std::byte>(one_in(random, 4) ? random() & 0xFFU : 0U));
    }
    return code;
  }
  /// The CPU has the last one: more like it.
  void note_success() { works_ = prefix_; }

 private:
  Opcode opcode_;
  unsigned turn_ = 0;
  std::vector<std::byte> prefix_;
  std::vector<std::byte> works_;
};

std::vector<Opcode> all_opcodes() {
  std::vector<Opcode> opcodes;
  const auto add = [&opcodes](Form form, unsigned map) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      opcodes.push_back({form, map, opcode});
    }
  };
  add(Form::one_byte, 0);
  add(Form::two_byte, 1);
  add(Form::three_byte_38, 2);
  add(Form::three_byte_3a, 3);
  for (unsigned map = 1; map <= 3; ++map) {
    add(Form::vex, map);
    add(Form::evex, map);
  }
  return opcodes;
}

/// Number of instructions with the opcode that the CPU executed as expected.
unsigned try_opcode(Trials& trials, const Opcode& opcode) {
  const unsigned enough = opcode.is_group() ? 200 : (opcode.is_general() ? 60 : 10);
  const unsigned most_tries = 5 * enough;
  // In a row; then the CPU has no such instruction.
  const unsigned most_faults = opcode.is_general() ? 120 : (opcode.form == Form::evex ? 8 : 40);
  Instructions instructions(opcode);
  unsigned same = 0;
  unsigned faults = 0;
  for (unsigned i = 0; i < most_tries && same < enough && faults < most_faults; ++i) {
    const auto code = instructions.next(trials.random());
    const Trial trial = trials.run(code, effects_of);
    EXPECT_NE(trial, Trial::different) << in_hex(code) << ": " << trials.difference();
    if (trial == Trial::same) {
      instructions.note_success();
      ++same;
      faults = 0;
    } else if (trial == Trial::faulted) {
      ++faults;
    }
  }
  return same;
}

/// Opcodes that every CPU, or one with AVX2 and BMI2, executes.
std::vector<Opcode> expected_opcodes() {
  std::vector<Opcode> opcodes;
  const auto add = [&opcodes](Form form, unsigned map, std::initializer_list<unsigned> more) {
    for (const unsigned opcode : more) {
      opcodes.push_back({form, map, opcode});
    }
  };
  const auto add_range = [&opcodes](Form form, unsigned map, unsigned first, unsigned last) {
    for (unsigned opcode = first; opcode <= last; ++opcode) {
      opcodes.push_back({form, map, opcode});
    }
  };
  for (unsigned row = 0; row < 0x40; row += 8) {
    add_range(Form::one_byte, 0, row, row + 5);
  }
  add_range(Form::one_byte, 0, 0x50, 0x5F);
  add_range(Form::one_byte, 0, 0x68, 0x6B);
  add_range(Form::one_byte, 0, 0x70, 0x81);
  add_range(Form::one_byte, 0, 0x83, 0x8D);
  add_range(Form::one_byte, 0, 0x90, 0x99);
  add_range(Form::one_byte, 0, 0x9C, 0x9F);
  add_range(Form::one_byte, 0, 0xA4, 0xC3);
  add_range(Form::one_byte, 0, 0xC6, 0xC7);
  add_range(Form::one_byte, 0, 0xD0, 0xD3);
  add_range(Form::one_byte, 0, 0xD7, 0xE3);
  add_range(Form::one_byte, 0, 0xF5, 0xF9);
  add(Form::one_byte, 0, {0x63, 0x8F, 0xC9, 0xE8, 0xE9, 0xEB, 0xFC, 0xFD, 0xFE, 0xFF});
  add_range(Form::two_byte, 1, 0x40, 0x61);
  add_range(Form::two_byte, 1, 0x80, 0xA0);
  add_range(Form::two_byte, 1, 0xA2, 0xA5);
  add_range(Form::two_byte, 1, 0xAB, 0xB1);
  add_range(Form::two_byte, 1, 0xB6, 0xB8);
  add_range(Form::two_byte, 1, 0xBA, 0xC1);
  add_range(Form::two_byte, 1, 0xC4, 0xCF);
  add(Form::two_byte, 1, {0x2A, 0x2C, 0x2D, 0x2E, 0x2F, 0x6E, 0x7E, 0xA8, 0xB3, 0xD7});
  add(Form::three_byte_38, 2, {0x17, 0xF0, 0xF1});
  add(Form::three_byte_3a, 3, {0x14, 0x15, 0x16, 0x17, 0x20, 0x22, 0x60, 0x61, 0x62, 0x63});
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0) {
    add(Form::vex, 1, {0x2A, 0x2C, 0x2D, 0x2E, 0x2F, 0x50, 0x6E, 0x7E, 0xC4, 0xC5, 0xD7});
    add(Form::vex, 2, {0x0E, 0x0F, 0x17, 0xF2, 0xF3, 0xF5, 0xF6, 0xF7});
    add(Form::vex, 3, {0x14, 0x15, 0x16, 0x17, 0x20, 0x22, 0x60, 0x61, 0x62, 0x63, 0xF0});
  }
  return opcodes;
}

TEST(Effects, are_what_the_cpu_shows) {
  const Random::result_type seed = seed_from(20261124);
  SCOPED_TRACE(record_run(seed));
  Trials trials(seed);
  ASSERT_TRUE(trials.ready());
  std::map<Opcode, unsigned> done;
  std::size_t compared = 0;
  for (const Opcode& opcode : all_opcodes()) {
    done[opcode] = try_opcode(trials, opcode);
    compared += done[opcode];
    ASSERT_FALSE(HasFailure());
  }
  RecordProperty("compared", std::to_string(compared));
  for (const Opcode& opcode : expected_opcodes()) {
    EXPECT_GE(done[opcode], 2U) << "form " << static_cast<int>(opcode.form) << ", map "
                                << opcode.map << ", opcode " << std::hex << opcode.opcode;
  }
}

/// Effects with something wrong, of an instruction without prefixes.
struct Wrong {
  std::vector<std::byte> code;
  FlagEffects flags;  // too many kills, or reads to be taken away
  RegisterEffects registers;
};

TEST(Effects, that_are_wrong_are_noticed) {
  const auto code = [](std::initializer_list<unsigned> bytes) {
    std::vector<std::byte> all(kLongestInstruction);
    std::ranges::transform(bytes, all.begin(),
                           [](unsigned b) { return static_cast<std::byte>(b); });
    return all;
  };
  const std::vector<Wrong> wrongs = {
      {code({0x11, 0xC3}), {kCarry, 0}, {}},             // adc %eax,%ebx
      {code({0x01, 0xC3}), {}, {1U << 0U, 0}},           // add %eax,%ebx
      {code({0x0F, 0x4C, 0xC3}), {kSign, 0}, {}},        // cmovl %ebx,%eax
      {code({0x0F, 0x4C, 0xC3}), {}, {1U << 0U, 0}},     //   which may leave rax
      {code({0x0F, 0x87, 1, 0, 0, 0}), {kZero, 0}, {}},  // ja
      {code({0xD3, 0xE0}), {0, kZero}, {}},              // shl %cl,%eax
      {code({0xFF, 0xC0}), {0, kCarry}, {}},             // inc %eax
      {code({0xF3, 0xA6}), {0, kZero}, {}},              // rep cmpsb
      {code({0x88, 0xD8}), {}, {0, 1U << 0U}},           // mov %bl,%al
      {code({0x66, 0x89, 0xD8}), {}, {0, 1U << 0U}},     // mov %bx,%ax
      {code({0x88, 0xFC}), {}, {1U << 3U, 0}},           // mov %bh,%ah
      {code({0xF7, 0xE3}), {}, {1U << 0U, 0}},           // mul %ebx
      {code({0x0F, 0xB1, 0xCB}), {}, {1U << 0U, 0}},     // cmpxchg %ecx,%ebx
      {code({0x0F, 0xBC, 0xC3}), {}, {0, 1U << 0U}},     // bsf %ebx,%eax
      {code({0x9F}), {kAdjust, 0}, {}},                  // lahf
      {code({0x50}), {}, {1U << 0U, 0}},                 // push %rax
  };
  const Random::result_type seed = seed_from(20261125);
  SCOPED_TRACE(record_run(seed));
  Trials trials(seed);
  ASSERT_TRUE(trials.ready());
  for (const Wrong& wrong : wrongs) {
    const auto tampered = [&wrong](const Encoding& encoding) {
      Effects effects = effects_of(encoding);
      effects.flags.reads &= ~wrong.flags.reads;
      effects.flags.kills |= wrong.flags.kills;
      const unsigned reads = effects.registers.reads & ~unsigned{wrong.registers.reads};
      const unsigned overwrites = effects.registers.overwrites | wrong.registers.overwrites;
      effects.registers.reads =
          static_cast<std::uint16_t>(reads & ~unsigned{wrong.registers.overwrites});
      effects.registers.overwrites = static_cast<std::uint16_t>(overwrites);
      return effects;
    };
    constexpr unsigned kTries = 400;
    bool is_noticed = false;
    for (unsigned i = 0; i < kTries && !is_noticed; ++i) {
      is_noticed = trials.run(wrong.code, tampered) == Trial::different;
    }
    EXPECT_TRUE(is_noticed) << in_hex(wrong.code);
  }
}

}  // namespace
}  // namespace sp::arch::x86_64
