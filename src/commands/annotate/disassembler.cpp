#include "commands/annotate/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <fmt/format.h>

#include "arch/aarch64/decoder.h"
#include "arch/x86_64/decoder.h"

namespace sp::annotate {

struct Disassembler::Capstone {
  Capstone(cs_arch arch, cs_mode mode) : opened(cs_open(arch, mode, &handle) == CS_ERR_OK) {}
  Capstone(const Capstone&) = delete;
  Capstone& operator=(const Capstone&) = delete;
  ~Capstone() {
    if (opened) {
      cs_close(&handle);
    }
  }

  csh handle = 0;
  bool opened = false;
};

Disassembler::Disassembler(std::uint16_t machine) {
  if (machine == EM_X86_64) {
    decode_ = [](std::span<const std::byte> bytes, core::Address address) {
      return arch::x86_64::decode(bytes, address);
    };
    capstone_ = std::make_unique<Capstone>(CS_ARCH_X86, CS_MODE_64);
  } else if (machine == EM_AARCH64) {
    decode_ = arch::aarch64::decode;
    unit_ = 4;
    capstone_ = std::make_unique<Capstone>(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN);
  } else {
    decode_ = [](std::span<const std::byte>, core::Address) { return std::nullopt; };
  }
}

Disassembler::Disassembler(Disassembler&&) noexcept = default;
Disassembler& Disassembler::operator=(Disassembler&&) noexcept = default;
Disassembler::~Disassembler() = default;

std::string Disassembler::text(std::span<const std::byte> bytes, std::uint64_t address) const {
  if (capstone_ == nullptr || !capstone_->opened) {
    return byte_text(bytes);
  }
  cs_insn* read = nullptr;
  const std::size_t count =
      cs_disasm(capstone_->handle, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                bytes.size(), address, 1, &read);
  std::string text;
  if (count == 1 && read->size == bytes.size()) {
    text = fmt::format("{}{}{}", &read->mnemonic[0], read->op_str[0] == '\0' ? "" : " ",
                       &read->op_str[0]);
  }
  if (count > 0) {
    cs_free(read, count);
  }
  return text.empty() ? byte_text(bytes) : text;
}

std::string byte_text(std::span<const std::byte> bytes) {
  std::string text = ".byte";
  for (const std::byte byte : bytes) {
    text += fmt::format("{} {:#04x}", text.ends_with("byte") ? "" : ",",
                        std::to_integer<unsigned>(byte));
  }
  return text;
}

}  // namespace sp::annotate
