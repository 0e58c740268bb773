#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace sp::test {

/// Writes a jitdump as a JIT compiler does, in either byte order.
class JitDumpBuilder {
 public:
  struct Line {
    std::uint64_t address = 0;
    std::uint32_t line = 0;
    std::string file;
  };

  explicit JitDumpBuilder(bool swapped = false, std::uint64_t flags = 0) : swapped_(swapped) {
    for (const std::uint32_t value : {0x4A695444U, 1U, 40U, 62U, 0U, 17U}) {
      put(value);
    }
    put(std::uint64_t{5});
    put(flags);
  }

  JitDumpBuilder& load(std::uint64_t address, std::uint64_t size, std::string_view name,
                       std::uint64_t time = 10, std::uint64_t index = 0) {
    record(0, 40 + name.size() + 1 + size, time);
    put(17U);
    put(17U);
    for (const std::uint64_t value : {address, address, size, index}) {
      put(value);
    }
    text_ += name;
    text_.append(1 + size, '\0');
    return *this;
  }

  JitDumpBuilder& move(std::uint64_t from, std::uint64_t to, std::uint64_t size,
                       std::uint64_t index, std::uint64_t time = 10) {
    record(1, 48, time);
    put(17U);
    put(17U);
    for (const std::uint64_t value : {to, from, to, size, index}) {
      put(value);
    }
    return *this;
  }

  JitDumpBuilder& lines(std::uint64_t address, const std::vector<Line>& lines) {
    std::size_t size = 16;
    for (const Line& line : lines) {
      size += 16 + line.file.size() + 1;
    }
    record(2, size, 10);
    put(address);
    put(std::uint64_t{lines.size()});
    for (const Line& line : lines) {
      put(line.address);
      put(line.line);
      put(0U);
      text_ += line.file;
      text_ += '\0';
    }
    return *this;
  }

  /// The head of a record; its content is to follow.
  JitDumpBuilder& record(std::uint32_t kind, std::size_t content, std::uint64_t time = 10) {
    put(kind);
    put(static_cast<std::uint32_t>(16 + content));
    put(time);
    return *this;
  }

  JitDumpBuilder& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename T>
  void put(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (swapped_) {
      std::reverse(std::begin(bytes), std::end(bytes));
    }
    text_.append(bytes, sizeof(T));
  }

  bool swapped_;
  std::string text_;
};

}  // namespace sp::test
