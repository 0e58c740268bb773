#include "analyzer/table_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sp::analyzer {
namespace {

using core::Address;
using core::AddressRange;

/// Of a table whose end is not known; an interpreter's has some hundreds.
constexpr std::uint64_t kMostEntries = 4096;

std::uint64_t entry_of(std::span<const std::byte> bytes, bool is_signed) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8U * i);
  }
  const std::uint64_t sign = std::uint64_t{1} << (8U * bytes.size() - 1U);
  return is_signed ? (value ^ sign) - sign : value;
}

}  // namespace

std::optional<std::vector<Address>> read_entries(const arch::JumpTable& table,
                                                 const ReadCode& read) {
  const std::uint64_t size = table.entry_size;
  std::vector<std::byte> bytes(table.entries * size);
  if (table.entries == 0 || table.entries > kMostEntries || size == 0 ||
      read(table.first, bytes) != bytes.size()) {
    return std::nullopt;
  }
  std::vector<Address> destinations;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    destinations.push_back(
        table.destination(entry_of(std::span(bytes).subspan(at, size), table.is_signed)));
  }
  return destinations;
}

TableReader::TableReader(const RecursiveDescent& descent, const ReadCode& read,
                         const KnownTables& known)
    : descent_(descent),
      read_(read),
      known_(known),
      elsewhere_(descent.transfers().begin(), descent.transfers().end()) {}

/// Tables do not overlap: with hints it ends where another one of the function begins.
AddressRange TableReader::longest(RecursiveDescent::Offset jump,
                                  const arch::JumpTable& table) const {
  const std::uint64_t entries = table.entries != 0 ? table.entries : kMostEntries;
  AddressRange range{table.first, table.first + entries * table.entry_size};
  if (known_.hints == nullptr) {
    return range;
  }
  const auto next = known_.starts.upper_bound(table.first);
  if (next != known_.starts.end()) {
    range.end = std::min(range.end, *next);
  }
  if (const auto end = known_.ends.find(jump); end != known_.ends.end()) {
    range.end = std::min(range.end, end->second);
  }
  return range;
}

bool TableReader::may_lead_to(Address destination) const {
  // The function's cold part may lie elsewhere; direct branches lead there too.
  return descent_.bounds().contains(destination) || elsewhere_.contains(destination) ||
         (known_.hints != nullptr && known_.hints->is_part(destination));
}

bool TableReader::is_behind(Address first, Address end, Address destination) const {
  return known_.hints != nullptr && (!known_.hints->is_code(destination) ||
                                     known_.hints->last_data_in({first + 1, end}).has_value());
}

std::optional<ResolvedJump> TableReader::read(RecursiveDescent::Offset jump,
                                              const arch::JumpTable& table) const {
  if (table.entry_size == 0) {
    return may_lead_to(table.base)
               ? std::optional(ResolvedJump{{table.base}, {table.first, table.first}, true})
               : std::nullopt;
  }
  const AddressRange range = longest(jump, table);
  const std::uint64_t size = table.entry_size;
  constexpr std::uint64_t kAtOnce = 256;
  std::vector<Address> destinations;
  Address at = range.begin;
  bool is_over = false;
  while (!is_over && at + size <= range.end) {
    std::vector<std::byte> bytes(std::min(kAtOnce, (range.end - at) / size) * size);
    const std::size_t length = read_(at, bytes);
    if (length != bytes.size() && known_.hints == nullptr) {
      return std::nullopt;
    }
    bytes.resize(length - length % size);
    is_over = bytes.empty();  // and so is the memory
    for (std::size_t offset = 0; offset < bytes.size() && !is_over; offset += size) {
      const Address destination =
          table.destination(entry_of(std::span(bytes).subspan(offset, size), table.is_signed));
      if (may_lead_to(destination)) {
        destinations.push_back(destination);
        at = at + size;
      } else if (!destinations.empty() && is_behind(table.first, at + size, destination)) {
        is_over = true;
      } else {
        return std::nullopt;
      }
    }
  }
  const bool is_endless = table.entries == 0 && destinations.size() == kMostEntries;
  if (destinations.empty() || is_endless) {
    return std::nullopt;
  }
  std::sort(destinations.begin(), destinations.end());
  destinations.erase(std::unique(destinations.begin(), destinations.end()), destinations.end());
  const bool is_whole =
      known_.hints == nullptr || !known_.hints->last_data_in({table.first + 1, at}).has_value();
  return ResolvedJump{std::move(destinations), {table.first, at}, is_whole};
}

}  // namespace sp::analyzer
