#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/fd.h"
#include "end_to_end/support.h"

/// What is asked of a run with --control, and what its trace has.
namespace sp::end_to_end {

/// A client of a run's socket.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
    const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    is_connected_ = ::connect(fd_.get(), generic, sizeof address) == 0;
  }
  [[nodiscard]] bool is_connected() const { return is_connected_; }
  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// The next answer.
  [[nodiscard]] nlohmann::json answer() const {
    std::string line;
    for (char byte = 0; ::recv(fd_.get(), &byte, 1, 0) == 1 && byte != '\n';) {
      line += byte;
    }
    auto answer = nlohmann::json::parse(line, nullptr, false);
    return answer.is_object() ? answer : nlohmann::json::object();
  }
  nlohmann::json tell(const std::string& command) const {
    send(command + "\n");
    return answer();
  }

 private:
  core::UniqueFd fd_;
  bool is_connected_ = false;
};

/// Of a run that is about to begin.
inline Client client_of(const std::string& socket) {
  EXPECT_TRUE(eventually([&] { return Client(socket).is_connected(); }));
  return Client(socket);
}

/// Calls of a trace by function and closing: "fib returned".
inline std::map<std::string, std::uint64_t> closings_in(const std::string& directory) {
  const Outcome shown =
      run({SP_PROGRAM, "report", "--trace", directory, "--json", "--percent-limit", "0"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  std::map<std::string, std::uint64_t> calls;
  const auto report = nlohmann::json::parse(shown.out, nullptr, false);
  for (const auto& row : report.value("rows", nlohmann::json::array())) {
    for (const auto& [closing, number] : row["closings"].items()) {
      if (number != 0) {
        calls[row["name"].get<std::string>() + " " + closing] = number;
      }
    }
  }
  return calls;
}

}  // namespace sp::end_to_end
