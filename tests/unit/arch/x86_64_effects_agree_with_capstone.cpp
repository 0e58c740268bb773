// A second opinion on every kind of instruction in the programs and libraries that this test has in
// its own memory, and on random ones: Capstone's.

#include <capstone/capstone.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>

#include "arch/x86_64/decoder.h"
#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/flags.h"
#include "arch/x86_64/register_effects.h"
#include "core/elf_image.h"

namespace sp::arch::x86_64 {
namespace {

struct FlagNames {
  std::uint64_t flag;
  std::uint64_t tested;   // any of them
  std::uint64_t changed;  // any of them
};
constexpr FlagNames kFlags[] = {
    {kCarry, X86_EFLAGS_TEST_CF,
     X86_EFLAGS_MODIFY_CF | X86_EFLAGS_RESET_CF | X86_EFLAGS_SET_CF | X86_EFLAGS_UNDEFINED_CF |
         X86_EFLAGS_PRIOR_CF},
    {kParity, X86_EFLAGS_TEST_PF,
     X86_EFLAGS_MODIFY_PF | X86_EFLAGS_RESET_PF | X86_EFLAGS_SET_PF | X86_EFLAGS_UNDEFINED_PF |
         X86_EFLAGS_PRIOR_PF},
    {kAdjust, X86_EFLAGS_TEST_AF,
     X86_EFLAGS_MODIFY_AF | X86_EFLAGS_RESET_AF | X86_EFLAGS_SET_AF | X86_EFLAGS_UNDEFINED_AF |
         X86_EFLAGS_PRIOR_AF},
    {kZero, X86_EFLAGS_TEST_ZF,
     X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_SET_ZF | X86_EFLAGS_UNDEFINED_ZF |
         X86_EFLAGS_PRIOR_ZF},
    {kSign, X86_EFLAGS_TEST_SF,
     X86_EFLAGS_MODIFY_SF | X86_EFLAGS_RESET_SF | X86_EFLAGS_SET_SF | X86_EFLAGS_UNDEFINED_SF |
         X86_EFLAGS_PRIOR_SF},
    {kOverflow, X86_EFLAGS_TEST_OF,
     X86_EFLAGS_MODIFY_OF | X86_EFLAGS_RESET_OF | X86_EFLAGS_SET_OF | X86_EFLAGS_UNDEFINED_OF |
         X86_EFLAGS_PRIOR_OF},
};

/// The number of the general register that `reg` is a part of; -1 if there is none.
int number_of(x86_reg reg) {
  constexpr x86_reg kParts[16][5] = {
      {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
      {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
      {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
      {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
      {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
      {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
      {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
      {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
      {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
      {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
      {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
      {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
      {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
      {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
      {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
      {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
  };
  for (int number = 0; number < 16; ++number) {
    for (const x86_reg part : kParts[number]) {
      if (part == reg && reg != X86_REG_INVALID) {
        return number;
      }
    }
  }
  return -1;
}

/// Capstone, with one instruction of it.
class Capstone {
 public:
  Capstone() {
    is_open_ = cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK;
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_.reset(cs_malloc(handle_));
  }
  Capstone(const Capstone&) = delete;
  Capstone& operator=(const Capstone&) = delete;
  ~Capstone() {
    instruction_.reset();
    cs_close(&handle_);
  }

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] const cs_insn& instruction() const { return *instruction_; }
  [[nodiscard]] const cs_x86& detail() const { return instruction_->detail->x86; }
  bool decode(std::span<const std::byte> code) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    std::size_t left = code.size();
    std::uint64_t address = 0x1000;
    return cs_disasm_iter(handle_, &bytes, &left, &address, instruction_.get());
  }
  /// Masks of general registers.
  void registers(std::uint16_t& read, std::uint16_t& written) const {
    cs_regs reads;
    cs_regs writes;
    std::uint8_t read_count = 0;
    std::uint8_t write_count = 0;
    cs_regs_access(handle_, instruction_.get(), reads, &read_count, writes, &write_count);
    read = mask_of({reads, read_count});
    written = mask_of({writes, write_count});
  }

 private:
  static std::uint16_t mask_of(std::span<const std::uint16_t> registers) {
    unsigned mask = 0;
    for (const std::uint16_t reg : registers) {
      const int number = number_of(static_cast<x86_reg>(reg));
      mask |= number < 0 ? 0U : 1U << static_cast<unsigned>(number);
    }
    return static_cast<std::uint16_t>(mask);
  }
  struct Free {
    void operator()(cs_insn* instruction) const { cs_free(instruction, 1); }
  };

  csh handle_ = 0;
  bool is_open_ = false;
  std::unique_ptr<cs_insn, Free> instruction_;
};

/// Where Capstone 4 is wrong or sees it differently; tests/live asks the CPU about all of these.
bool is_known(std::string_view mnemonic, std::string_view what) {
  struct Known {
    std::string_view mnemonic;  // its beginning
    std::string_view what;      // its beginning
  };
  constexpr std::string_view kRead = "we miss a read of a register";
  constexpr std::string_view kChange = "we add a change of flag";
  constexpr Known kKnown[] = {
      // It knows of no flags there.
      {"pcmpestr", kChange},
      {"pcmpistr", kChange},
      {"vpcmpestr", kChange},
      {"vpcmpistr", kChange},
      {"vcomis", kChange},
      {"vucomis", kChange},
      {"vptest", kChange},
      {"vtestp", kChange},
      {"ptest", kChange},  // of OF, which is cleared
      {"kortest", kChange},
      {"ktest", kChange},
      // It forgets an F2 or F3 that another prefix follows: cvtsd2si, cvttss2si, insertq.
      {"cvtps2pi", "we add a write of a register"},
      {"cvttps2pi", "we add a write of a register"},
      {"vmwrite", kRead},
      // The kernel's entry overwrites rcx and r11.
      {"syscall", "we add a write of a register"},
      // They do nothing with their operands.
      {"nop", kRead},
      {"xchg", kRead},  // of rax with itself
      // rcx, although there is no prefix.
      {"stosq", kRead},
  };
  return std::ranges::any_of(kKnown, [&](const Known& known) {
    return mnemonic.starts_with(known.mnemonic) && what.starts_with(known.what);
  });
}

/// Differences by mnemonic, with an example of each.
class Differences {
 public:
  void add(const Capstone& theirs, const std::string& what) {
    const std::string mnemonic = theirs.instruction().mnemonic;
    if (is_known(mnemonic, what) || !seen_.insert(mnemonic + what).second) {
      return;
    }
    std::ostringstream bytes;
    for (unsigned i = 0; i < theirs.instruction().size; ++i) {
      bytes << std::hex << unsigned{theirs.instruction().bytes[i]} << ' ';
    }
    ADD_FAILURE() << mnemonic << ' ' << theirs.instruction().op_str << " (" << bytes.str()
                  << "): " << what;
  }

 private:
  std::set<std::string> seen_;
};

void compare_flags(const Capstone& theirs, const Encoding& encoding, Differences& differences) {
  const FlagEffects ours = flag_effects(encoding);
  const bool is_x87 =
      encoding.map == OpcodeMap::one_byte && encoding.opcode >= 0xD8 && encoding.opcode <= 0xDF;
  if (is_x87) {
    return;  // Capstone has the x87 status word's flags in the same field
  }
  const std::uint64_t eflags = theirs.detail().eflags;
  for (const FlagNames& names : kFlags) {
    if ((eflags & names.tested) != 0 && (ours.reads & names.flag) == 0) {
      differences.add(theirs, "we miss a read of flag " + std::to_string(names.flag));
    }
    if ((ours.kills & names.flag) != 0 && (eflags & names.changed) == 0) {
      differences.add(theirs, "we add a change of flag " + std::to_string(names.flag));
    }
  }
}

void compare_registers(const Capstone& theirs, const Encoding& encoding, Differences& differences) {
  const RegisterEffects ours = register_effects(encoding);
  std::uint16_t read = 0;
  std::uint16_t written = 0;
  theirs.registers(read, written);
  const std::string_view mnemonic = theirs.instruction().mnemonic;
  const bool is_zero = (mnemonic == "xor" || mnemonic == "sub") && encoding.names_register() &&
                       encoding.reg() == encoding.rm();
  if (is_zero) {
    read = 0;  // the result is 0, whatever the register is
  }
  for (unsigned number = 0; number < 16; ++number) {
    const unsigned bit = 1U << number;
    if ((read & bit) != 0 && (ours.reads & bit) == 0) {
      differences.add(theirs, "we miss a read of a register");
    }
    if ((ours.overwrites & bit) != 0 && (written & bit) == 0) {
      differences.add(theirs, "we add a write of a register");
    }
  }
}

class EffectsX86_64 : public testing::Test {
 protected:
  /// Compares the first instruction of `code`; its length in our decoder.
  std::size_t compare(std::span<const std::byte> code) {
    const auto encoding = read_encoding(code);
    if (!encoding) {
      return 1;
    }
    const auto own = code.first(encoding->length);
    if (kinds_.insert(encoding_kind(own)).second && theirs_.decode(own) &&
        theirs_.instruction().size == encoding->length) {
      ++compared_;
      compare_flags(theirs_, *encoding, differences_);
      compare_registers(theirs_, *encoding, differences_);
    }
    return encoding->length;
  }
  void compare_all(std::span<const std::byte> code) {
    for (std::size_t at = 0; at < code.size();) {
      at += compare(code.subspan(at));
    }
  }

  Capstone theirs_;
  Differences differences_;
  std::unordered_set<std::uint64_t> kinds_;
  std::size_t compared_ = 0;
};

/// The files whose code is mapped in this process.
std::set<std::string> mapped_code() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find('/');
    if (path != std::string::npos && line.find(" r-xp ") != std::string::npos) {
      files.insert(line.substr(path));
    }
  }
  return files;
}

TEST_F(EffectsX86_64, agree_with_capstone_on_code_of_this_process) {
  ASSERT_TRUE(theirs_.is_open());
  std::size_t read = 0;
  for (const std::string& path : mapped_code()) {
    auto file = core::MappedFile::open(path);
    ASSERT_TRUE(file) << path;
    auto image = core::ElfImage::parse(*file);
    ASSERT_TRUE(image) << path;
    if ((*image)->machine() != EM_X86_64) {
      GTEST_SKIP() << path << " is not x86-64 code";
    }
    for (const core::LoadSegment& segment : (*image)->segments()) {
      if (segment.executable) {
        const auto code = (*image)->bytes_at(segment.address).first(segment.file_size);
        compare_all(code);
        read += code.size();
      }
    }
  }
  EXPECT_GT(read, 1000000U);
  EXPECT_GT(compared_, 10000U);
  RecordProperty("compared", std::to_string(compared_));
}

TEST_F(EffectsX86_64, agree_with_capstone_on_random_bytes) {
  ASSERT_TRUE(theirs_.is_open());
  std::mt19937 random(static_cast<unsigned>(GTEST_FLAG_GET(random_seed)));
  constexpr unsigned kTries = 300000;
  for (unsigned i = 0; i < kTries; ++i) {
    std::array<std::byte, kLongestInstruction> code{};
    std::size_t at = 0;
    const auto put = [&](unsigned byte) { code.at(at++) = static_cast<std::byte>(byte); };
    constexpr unsigned kPrefixes[] = {0x66, 0xF2, 0xF3, 0x67, 0xF0};
    if (random() % 3 == 0) {
      put(kPrefixes[random() % std::size(kPrefixes)]);
    }
    if (random() % 3 == 0) {
      put(0x40U + static_cast<unsigned>(random() % 16));
    }
    switch (random() % 6) {
      case 0:
      case 1:
        put(0x0F);
        break;
      case 2:
        put(0x0F);
        put(random() % 2 == 0 ? 0x38U : 0x3AU);
        break;
      case 3:
        put(0xC4);
        put(0xE0U | static_cast<unsigned>(1 + random() % 3));
        break;
      default:
        break;
    }
    while (at < code.size()) {
      put(static_cast<unsigned>(random() % 256));
    }
    compare(code);
  }
  EXPECT_GT(compared_, 50000U);
}

}  // namespace
}  // namespace sp::arch::x86_64
