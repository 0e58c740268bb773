#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/fd.h"

namespace sp::profiler::test {

/// The sum of a key's numbers.
inline std::uint64_t sum_of(const std::string& text, const std::string& key) {
  const std::regex pattern("\"" + key + "\":([0-9]+)");
  std::uint64_t sum = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    sum += std::stoull((*match)[1]);
  }
  return sum;
}

/// The reader's side.
class Reader {
 public:
  explicit Reader(core::UniqueFd fd) : fd_(std::move(fd)) {}

  /// Reads `most` bytes at most. False: nothing is there, or the connection is closed.
  bool read(std::size_t most = 1 << 20) {
    std::string bytes(most, '\0');
    const ssize_t size = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    text_.append(bytes, 0, size > 0 ? static_cast<std::size_t>(size) : 0);
    return size > 0;
  }
  void ask(std::size_t times = 1) {
    const std::string bytes(times, 'x');
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(times));
  }
  void close() { fd_.reset(); }
  void stop_sending() { ::shutdown(fd_.get(), SHUT_WR); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The lines of a type that are complete.
  [[nodiscard]] std::vector<std::string> lines(const std::string& type) const {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end = text_.find('\n'); end != std::string::npos;
         end = text_.find('\n', begin)) {
      std::string line = text_.substr(begin, end - begin);
      if (line.starts_with("{\"type\":\"" + type + "\"")) {
        lines.push_back(std::move(line));
      }
      begin = end + 1;
    }
    return lines;
  }
  /// Of profiles, each number once.
  [[nodiscard]] std::uint64_t sum(const std::string& key) const {
    std::uint64_t sum = 0;
    std::set<std::uint64_t> seen;
    for (const std::string& line : lines("profile")) {
      if (seen.insert(sum_of(line.substr(0, line.find("since_us")), "seq")).second) {
        sum += sum_of(line, key);
      }
    }
    return sum;
  }

 private:
  core::UniqueFd fd_;
  std::string text_;
};

inline std::pair<core::UniqueFd, core::UniqueFd> socket_pair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {core::UniqueFd(fds[0]), core::UniqueFd(fds[1])};
}

inline core::UniqueFd listen_at(const std::string& path) {
  core::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(fd.get(), 4), 0);
  return fd;
}

}  // namespace sp::profiler::test
