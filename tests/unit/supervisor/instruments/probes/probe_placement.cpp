#include "supervisor/instruments/probes/probe_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

using Bytes = std::vector<std::uint8_t>;

/// Instructions of the host's CPU, each of a kind that differs in how a probe on it is executed.
struct Code {
  Bytes emulated;     // nop
  Bytes relocatable;  // a multiplication: not emulated
  Bytes neither;      // a system call
  Bytes transfer;     // ret
};

const Code& code() {
  static const Code x86_64{{0x90}, {0x48, 0x0F, 0xAF, 0xC3}, {0x0F, 0x05}, {0xC3}};
  static const Code aarch64{{0x1F, 0x20, 0x03, 0xD5},
                            {0x00, 0x7C, 0x01, 0x9B},
                            {0x01, 0x00, 0x00, 0xD4},
                            {0xC0, 0x03, 0x5F, 0xD6}};
  return Native::kName == "x86_64" ? x86_64 : aarch64;
}

constexpr Address kStart{0x1000};

/// A block of those instructions, and where each of them is.
class ProbePlacement : public ::testing::Test {
 protected:
  void add(std::initializer_list<Bytes> instructions) {
    for (const Bytes& bytes : instructions) {
      at_.push_back(kStart + bytes_.size());
      block_.lengths.push_back(static_cast<std::uint8_t>(bytes.size()));
      for (const std::uint8_t byte : bytes) {
        bytes_.push_back(std::byte{byte});
      }
    }
  }

  [[nodiscard]] Address choose() const {
    const auto read = [this](Address from, std::span<std::byte> into) {
      const std::size_t offset = from - kStart;
      const std::size_t size = std::min(into.size(), bytes_.size() - offset);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), size, into.begin());
      return size;
    };
    return choose_probe(block_, read,
                        [this](Address address) { return sequence_.contains(address); });
  }

  core::BasicBlock block_{kStart, {}, {}, false};
  std::vector<std::byte> bytes_;
  std::vector<Address> at_;
  core::AddressRange sequence_;
};

TEST_F(ProbePlacement, prefers_the_transfer_at_the_end) {
  add({code().emulated, code().relocatable, code().transfer});
  EXPECT_EQ(choose(), at_[2]);
}

TEST_F(ProbePlacement, takes_the_last_emulated_instruction_of_a_block_that_falls_through) {
  add({code().emulated, code().emulated, code().relocatable});
  EXPECT_EQ(choose(), at_[1]);
}

TEST_F(ProbePlacement, takes_the_last_relocatable_instruction_if_none_is_emulated) {
  add({code().relocatable, code().relocatable, code().neither});
  EXPECT_EQ(choose(), at_[1]);
}

TEST_F(ProbePlacement, leaves_a_block_without_a_probe_if_no_instruction_can_have_one) {
  add({code().neither});
  EXPECT_EQ(choose(), Address{});
}

TEST_F(ProbePlacement, avoids_atomic_sequences) {
  add({code().emulated, code().emulated, code().transfer});
  sequence_ = {at_[1], kStart + bytes_.size()};
  EXPECT_EQ(choose(), at_[0]);
}

}  // namespace
}  // namespace sp::supervisor
