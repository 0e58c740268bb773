// A second opinion on what instructions read and overwrite of general registers, on random ones of
// every group: Capstone's. What copies take for dead follows from it.
#include <capstone/capstone.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "arch/aarch64/counting.h"
#include "arch/aarch64/encoding.h"
#include "arch/aarch64/move.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

/// The number of the general register that `reg` is a part of; -1 if there is none.
int number_of(unsigned reg) {
  if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) {
    return static_cast<int>(reg - ARM64_REG_X0);
  }
  if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) {
    return static_cast<int>(reg - ARM64_REG_W0);
  }
  return reg == ARM64_REG_X29 ? 29 : reg == ARM64_REG_X30 ? 30 : -1;
}

class Capstone {
 public:
  Capstone() {
    is_open_ = cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle_) == CS_ERR_OK;
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  Capstone(const Capstone&) = delete;
  Capstone& operator=(const Capstone&) = delete;
  ~Capstone() {
    cs_free(instruction_, 1);
    cs_close(&handle_);
  }
  [[nodiscard]] bool is_open() const { return is_open_; }
  bool decode(const std::vector<std::byte>& code) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    std::size_t left = code.size();
    std::uint64_t address = 0x1000;
    return cs_disasm_iter(handle_, &bytes, &left, &address, instruction_);
  }
  [[nodiscard]] std::string text() const {
    return std::string(instruction_->mnemonic) + " " + instruction_->op_str;
  }
  [[nodiscard]] std::string name() const { return instruction_->mnemonic; }
  /// Registers of the operands that are read or written, by their access; those of addresses are
  /// read.
  void registers(std::uint32_t& read, std::uint32_t& written) const {
    read = written = 0;
    const cs_arm64& detail = instruction_->detail->arm64;
    for (int i = 0; i < detail.op_count; ++i) {
      const cs_arm64_op& operand = detail.operands[i];
      if (operand.type == ARM64_OP_MEM) {
        read |= bit(operand.mem.base) | bit(operand.mem.index);
      } else if (operand.type == ARM64_OP_REG) {
        read |= (operand.access & CS_AC_READ) != 0 ? bit(operand.reg) : 0;
        written |= (operand.access & CS_AC_WRITE) != 0 ? bit(operand.reg) : 0;
      }
    }
  }

 private:
  static std::uint32_t bit(unsigned reg) {
    const int number = number_of(reg);
    return number < 0 ? 0 : 1U << static_cast<unsigned>(number);
  }

  csh handle_ = 0;
  bool is_open_ = false;
  cs_insn* instruction_ = nullptr;
};

/// Capstone 4 has them read the register that they overwrite as a whole.
bool only_overwrites(const std::string& name) {
  static const std::set<std::string> kNames{"movn",  "movz", "mrs",  "ubfiz", "ubfx", "ubfm",
                                            "sbfiz", "sbfx", "sbfm", "asr",   "lsr",  "lsl",
                                            "sxtb",  "sxth", "sxtw", "uxtb",  "uxth"};
  return kNames.contains(name);
}
/// And of some that set flags that they read and do not write it.
bool sets_flags(const std::string& name) {
  static const std::set<std::string> kNames{"adds", "subs"};
  return kNames.contains(name);
}

TEST(AArch64Effects, agree_with_capstone_on_random_instructions) {
  Capstone capstone;
  ASSERT_TRUE(capstone.is_open());
  std::mt19937 random(7);  // NOLINT: the same each time
  constexpr int kWords = 400'000;
  std::set<std::string> known;
  std::set<std::string> said;
  for (int i = 0; i < kWords; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    const auto bytes = bytes_of_word(word);
    const LiveEffects ours = live_effects(bytes);
    if (!ours.is_known || !capstone.decode(bytes)) {
      continue;
    }
    known.insert(capstone.name());
    std::uint32_t read = 0;
    std::uint32_t written = 0;
    capstone.registers(read, written);
    const std::uint32_t first = (1U << field(word, 0, 5)) & 0x7FFFFFFFU;
    read &= only_overwrites(capstone.name()) || sets_flags(capstone.name()) ? ~first : ~0U;
    written |= sets_flags(capstone.name()) ? first : 0;
    if ((read & ~ours.reads) != 0 || (ours.overwrites & ~written) != 0) {
      if (said.insert(capstone.name()).second) {
        ADD_FAILURE() << std::hex << word << " " << capstone.text() << ": reads " << read
                      << ", we say " << ours.reads << "; writes " << written << ", we say "
                      << ours.overwrites;
      }
    }
  }
  EXPECT_GT(known.size(), 300U);
}

}  // namespace
}  // namespace sp::arch::aarch64
