#include "symbols/perf_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <utility>

namespace sp::symbols {
namespace {

/// A hex number, with or without 0x, and the blanks that follow it.
std::optional<std::uint64_t> take_hex(std::string_view& line) {
  if (line.starts_with("0x") || line.starts_with("0X")) {
    line.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || digits == line.size() || line[digits] != ' ') {
    return std::nullopt;
  }
  line.remove_prefix(std::min(line.find_first_not_of(' ', digits), line.size()));
  return value;
}

std::string read_all(int fd) {
  constexpr std::size_t kLimit = std::size_t{1} << 30U;
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::string text;
  while (text.size() < kLimit) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::read(fd, text.data() + before, kPiece);
    const bool again = got < 0 && errno == EINTR;
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0 && !again) {
      break;
    }
  }
  return text;
}

}  // namespace

JitSymbols::JitSymbols(std::string text) : text_(std::move(text)) {
  const std::string_view all = text_;
  std::size_t at = 0;
  while (true) {
    const auto end = all.find('\n', at);
    if (end == std::string_view::npos) {
      return;
    }
    read_line(at, all.substr(at, end - at));
    at = end + 1;
  }
}

void JitSymbols::read_line(std::uint64_t at, std::string_view line) {
  std::string_view rest = line;
  const auto begin = take_hex(rest);
  const auto size = begin ? take_hex(rest) : std::nullopt;
  if (!size || *size == 0 || *begin + *size < *begin || rest.empty()) {
    return;
  }
  constexpr std::size_t kLongestName = 8 * 1024;
  insert(*begin, {*begin + *size, *begin, at + (line.size() - rest.size()),
                  static_cast<std::uint32_t>(std::min(rest.size(), kLongestName))});
}

void JitSymbols::insert(std::uint64_t begin, const Entry& entry) {
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second.end > entry.end) {
      next = ranges_.emplace_hint(next, entry.end, before->second);
    }
    before->second.end = std::min(before->second.end, begin);
  }
  while (next != ranges_.end() && next->first < entry.end) {
    if (next->second.end > entry.end) {
      ranges_.emplace(entry.end, next->second);
    }
    next = ranges_.erase(next);
  }
  ranges_.insert_or_assign(begin, entry);
}

std::optional<JitSymbols::Hit> JitSymbols::find(std::uint64_t address) const {
  const auto behind = ranges_.upper_bound(address);
  if (behind == ranges_.begin()) {
    return std::nullopt;
  }
  const Entry& entry = std::prev(behind)->second;
  if (address >= entry.end) {
    return std::nullopt;
  }
  return Hit{std::string_view(text_).substr(entry.name_at, entry.name_size), entry.begin};
}

PerfMap::PerfMap(pid_t pid, const std::string& root)
    : folder_(::open((root + "/tmp").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), owner_(pid) {
  if (!folder_.valid()) {
    folder_.reset(::open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
}

core::UniqueFd PerfMap::open_trusted() const {
  for (const pid_t pid : {owner_.inner_pid(), owner_.outer_pid()}) {
    core::UniqueFd fd = owner_.open(folder_.get(), fmt::format("perf-{}.map", pid));
    if (fd.valid()) {
      return fd;
    }
  }
  return core::UniqueFd();
}

bool PerfMap::refresh() {
  const core::UniqueFd fd = open_trusted();
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
    return false;
  }
  const Version version{status.st_ino, status.st_size, status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec};
  if (version == version_) {
    return false;
  }
  version_ = version;
  symbols_ = JitSymbols(read_all(fd.get()));
  return true;
}

}  // namespace sp::symbols
