#include "symbols/xray_map.h"

#include <elf.h>
#include <fmt/format.h>

#include <span>

#include "core/bytes.h"
#include "symbols/relocated_words.h"

namespace sp::symbols {
namespace {

constexpr std::uint64_t kMapEntrySize = 32;
// Offsets in an entry.
constexpr std::uint64_t kFunctionAt = 8;
constexpr std::uint64_t kKindAt = 16;
constexpr std::uint64_t kAlwaysAt = 17;
constexpr std::uint64_t kVersionAt = 18;
constexpr std::uint8_t kFirstRelative = 2;

core::Result<void> check_map(const ElfSections& sections, const Section& map) {
  if (sections.machine() != EM_X86_64 && sections.machine() != EM_AARCH64) {
    return core::fail(fmt::format(
        "xray_instr_map for CPU {} is not known, only for x86_64 and aarch64", sections.machine()));
  }
  if (sections.bytes(map).size() != map.size) {
    return core::fail("xray_instr_map is cut off: the file is damaged");
  }
  if (map.size % kMapEntrySize != 0) {
    return core::fail(fmt::format(
        "xray_instr_map has {} bytes, no multiple of 32: the file is damaged", map.size));
  }
  return {};
}

/// Reads the entries one after the other.
class MapReader {
 public:
  MapReader(const core::ElfImage& image, const ElfSections& sections, const Section& map)
      : image_(image),
        bytes_(sections.bytes(map)),
        address_(map.address),
        words_(sections, map.address, map.address + map.size) {}

  /// `entry`: its number from 0.
  core::Result<void> read(std::uint64_t entry);

  [[nodiscard]] XrayMap take() { return std::move(map_); }
  [[nodiscard]] const std::vector<SledRun>& runs() const { return runs_; }

 private:
  /// An address of an entry at `at` in the section.
  [[nodiscard]] std::uint64_t address_at(std::uint64_t at, std::uint8_t version) const;
  [[nodiscard]] core::Result<void> check(std::uint64_t entry, const core::Sled& sled,
                                         std::uint8_t kind) const;

  const core::ElfImage& image_;
  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  RelocatedWords words_;
  XrayMap map_;
  std::vector<SledRun> runs_;
  std::uint64_t function_ = 0;  // of the entry before; 0: none, or it was discarded
};

std::uint64_t MapReader::address_at(std::uint64_t at, std::uint8_t version) const {
  const std::uint64_t stored = core::read_at<std::uint64_t>(bytes_, at).value_or(0);
  return version >= kFirstRelative ? address_ + at + stored : words_.value(address_ + at, stored);
}

core::Result<void> MapReader::check(std::uint64_t entry, const core::Sled& sled,
                                    std::uint8_t kind) const {
  const auto refuse = [&](const std::string& why) {
    return core::fail(fmt::format("entry {} of {} in xray_instr_map {}: the file is damaged",
                                  entry + 1, bytes_.size() / kMapEntrySize, why));
  };
  if (kind >= core::kSledKinds) {
    return refuse(fmt::format("has the unknown kind {}", kind));
  }
  if (!image_.is_executable_at(sled.address)) {
    return refuse(
        fmt::format("has its sled at {:#x}, outside of the executable segments", sled.address));
  }
  if (!image_.is_executable_at(sled.function)) {
    return refuse(fmt::format("has its function at {:#x}, outside of the executable segments",
                              sled.function));
  }
  return {};
}

core::Result<void> MapReader::read(std::uint64_t entry) {
  const std::uint64_t at = entry * kMapEntrySize;
  const auto byte_at = [&](std::uint64_t offset) {
    return core::read_at<std::uint8_t>(bytes_, at + offset).value_or(0);
  };
  core::Sled sled;
  sled.version = byte_at(kVersionAt);
  sled.always = byte_at(kAlwaysAt) != 0;
  sled.address = address_at(at, sled.version);
  sled.function = address_at(at + kFunctionAt, sled.version);
  if (sled.function == 0) {
    ++map_.discarded;
    function_ = 0;
    return {};
  }
  const std::uint8_t kind = byte_at(kKindAt);
  if (auto good = check(entry, sled, kind); !good) {
    return good;
  }
  sled.kind = static_cast<core::SledKind>(kind);
  if (sled.function != function_) {
    function_ = sled.function;
    ++map_.functions;
    runs_.push_back({entry, entry});
  }
  runs_.back().end = entry + 1;
  sled.function_id = map_.functions;
  map_.sleds.push_back(sled);
  return {};
}

}  // namespace

core::Result<std::optional<XrayMap>> read_xray_map(
    const std::shared_ptr<const core::ElfImage>& image) {
  const ElfSections sections(image);
  const Section* const map = sections.find("xray_instr_map");
  // A separate debug file has the section's header alone.
  if (map == nullptr || map->type == SHT_NOBITS || map->size == 0) {
    return std::nullopt;
  }
  if (const auto good = check_map(sections, *map); !good) {
    return tl::unexpected(good.error());
  }
  MapReader reader(*image, sections, *map);
  for (std::uint64_t entry = 0; entry < map->size / kMapEntrySize; ++entry) {
    if (const auto read = reader.read(entry); !read) {
      return tl::unexpected(read.error());
    }
  }
  XrayMap result = reader.take();
  result.index_difference = compare_xray_index(sections, reader.runs(), map->address);
  return result;
}

}  // namespace sp::symbols
