#include "core/mapping.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sp::core {
namespace {

/// Takes hex or decimal digits off the front of `text`, and the character that follows them.
std::optional<std::uint64_t> take_number(std::string_view& text, int base, char behind) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (behind != '\0') {
    if (text.empty() || text.front() != behind) {
      return std::nullopt;
    }
    text.remove_prefix(1);
  }
  return value;
}

std::string unescape(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  while (!path.empty()) {
    if (path.starts_with("\\012")) {
      out.push_back('\n');
      path.remove_prefix(4);
    } else {
      out.push_back(path.front());
      path.remove_prefix(1);
    }
  }
  return out;
}

// 55d0c0a00000-55d0c0a02000 r-xp 00002000 fd:01 1234    /usr/bin/cat
std::optional<Mapping> parse_line(std::string_view line) {
  const auto begin = take_number(line, 16, '-');
  const auto end = begin ? take_number(line, 16, ' ') : std::nullopt;
  if (!end || line.size() < 5) {
    return std::nullopt;
  }
  Mapping mapping;
  mapping.range = {Address{*begin}, Address{*end}};
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  mapping.shared = line[3] == 's';
  line.remove_prefix(5);
  const auto offset = take_number(line, 16, ' ');
  const auto major = offset ? take_number(line, 16, ':') : std::nullopt;
  const auto minor = major ? take_number(line, 16, ' ') : std::nullopt;
  const auto inode = minor ? take_number(line, 10, '\0') : std::nullopt;
  if (!inode) {
    return std::nullopt;
  }
  mapping.file_offset = *offset;
  mapping.device = static_cast<std::uint32_t>((*major << 20U) | *minor);
  mapping.inode = *inode;
  const auto path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) {
    line.remove_prefix(path);
    constexpr std::string_view kDeleted = " (deleted)";
    if (line.ends_with(kDeleted)) {
      mapping.deleted = true;
      line.remove_suffix(kDeleted.size());
    }
    mapping.path = unescape(line);
  }
  return mapping;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> maps;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (auto mapping = parse_line(text.substr(0, end))) {
      maps.push_back(std::move(*mapping));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return maps;
}

const Mapping* find_mapping(const std::vector<Mapping>& maps, Address address) {
  const auto behind =
      std::upper_bound(maps.begin(), maps.end(), address,
                       [](Address a, const Mapping& mapping) { return a < mapping.range.end; });
  if (behind == maps.end() || !behind->range.contains(address)) {
    return nullptr;
  }
  return &*behind;
}

}  // namespace sp::core
