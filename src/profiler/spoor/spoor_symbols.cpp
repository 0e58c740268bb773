#include "profiler/spoor/spoor_symbols.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "profiler/spoor/proto_reader.h"

namespace sp::profiler {
namespace {

/// Of one id: more are no accident.
constexpr std::size_t kMostOfOneId = 16;

constexpr std::uint32_t kTable = 1;  // of a file
constexpr std::uint32_t kKey = 1;    // of an entry of the table
constexpr std::uint32_t kInfos = 2;
constexpr std::uint32_t kInfo = 1;  // of infos
constexpr std::uint32_t kModuleField = 1;
constexpr std::uint32_t kLinkageField = 2;
constexpr std::uint32_t kNameField = 3;
constexpr std::uint32_t kFileField = 4;
constexpr std::uint32_t kFolderField = 5;
constexpr std::uint32_t kLineField = 6;

/// Calls `visit(field)` for each field of a message; false if it is damaged.
template <typename Visit>
bool for_each_field(std::string_view message, const Visit& visit) {
  ProtoReader in(message);
  while (const auto field = in.next()) {
    if (!visit(*field)) {
      return false;
    }
  }
  return !in.is_damaged();
}

bool read_symbol(std::string_view message, SpoorSymbol& symbol) {
  std::string_view folder;
  const bool is_good = for_each_field(message, [&](const ProtoReader::Field& field) {
    switch (field.number) {
      case kModuleField:
        symbol.module = field.bytes;
        break;
      case kLinkageField:
        symbol.linkage_name = field.bytes;
        break;
      case kNameField:
        symbol.name = field.bytes;
        break;
      case kFileField:
        symbol.file = field.bytes;
        break;
      case kFolderField:
        folder = field.bytes;
        break;
      case kLineField:
        symbol.line = field.value > std::numeric_limits<std::int32_t>::max()
                          ? 0  // negative
                          : static_cast<std::uint32_t>(field.value);
        break;
      default:  // whether and why it was instrumented, when
        break;
    }
    return true;
  });
  if (!folder.empty() && !symbol.file.empty() && !symbol.file.starts_with('/')) {
    symbol.file = std::string(folder) + (folder.ends_with('/') ? "" : "/") + symbol.file;
  }
  return is_good;
}

}  // namespace

std::string SpoorSymbols::add(std::string_view bytes, const std::string& name) {
  const bool is_good = for_each_field(bytes, [this](const ProtoReader::Field& row) {
    if (row.number != kTable) {
      return true;
    }
    std::uint64_t id = 0;
    std::string_view infos;
    const bool is_row = for_each_field(row.bytes, [&](const ProtoReader::Field& field) {
      id = field.number == kKey ? field.value : id;
      infos = field.number == kInfos ? field.bytes : infos;
      return true;
    });
    return is_row && for_each_field(infos, [&](const ProtoReader::Field& field) {
             SpoorSymbol symbol;
             if (field.number == kInfo && !read_symbol(field.bytes, symbol)) {
               return false;
             }
             std::vector<SpoorSymbol>& known = symbols_[id];
             if (field.number == kInfo && known.size() < kMostOfOneId &&
                 std::find(known.begin(), known.end(), symbol) == known.end()) {
               known.push_back(std::move(symbol));
               ++rows_;
             }
             return rows_ < kMostSymbols;
           });
  });
  if (rows_ >= kMostSymbols) {
    return name + " has more functions than can be read: the rest have no names";
  }
  return is_good ? "" : name + " is damaged: not all functions have names";
}

const std::vector<SpoorSymbol>& SpoorSymbols::find(std::uint64_t id) const {
  static const std::vector<SpoorSymbol> kNone;
  const auto found = symbols_.find(id);
  return found == symbols_.end() ? kNone : found->second;
}

}  // namespace sp::profiler
