#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/protobuf.h"

/// Files as programs write them that Spoor has instrumented.
namespace sp::profiler::test {

struct SpoorCall {
  std::int64_t ns = 0;
  std::uint64_t function = 0;
  std::uint32_t type = 1;
};

/// A trace file, byte by byte.
struct SpoorBytes {
  bool is_big = false;
  bool is_packed = false;
  std::uint32_t version = 0;
  std::uint64_t run = 0xABCD;
  std::int64_t process = 4711;
  std::uint64_t thread = 0xFFEE'DDCC'BBAA'9988;
  std::int64_t system_ns = 1'700'000'000'000'000'000;
  std::int64_t steady_ns = 0;
  std::vector<SpoorCall> events{};

  [[nodiscard]] std::string text() const {
    std::string head = "\xC8Spoor\r\n\x1A\n";
    head += static_cast<char>(is_big ? 1 : 0);
    head += static_cast<char>(is_packed ? 1 : 0);
    put(head, version, 4);
    put(head, run, 8);
    put(head, static_cast<std::uint64_t>(process), 8);
    put(head, thread, 8);
    put(head, static_cast<std::uint64_t>(system_ns), 8);
    put(head, static_cast<std::uint64_t>(steady_ns), 8);
    put(head, events.size(), 4);
    head.append(4, '\0');
    std::string body;
    for (const SpoorCall& event : events) {
      put(body, static_cast<std::uint64_t>(event.ns), 8);
      put(body, event.function, 8);
      put(body, event.type, 4);
      put(body, 0, 4);
    }
    return head + (is_packed ? packed(body) : body);
  }

  /// A raw block of snappy: the length, and then what is equal to the event before as copies, all
  /// else as literals.
  [[nodiscard]] static std::string packed(std::string_view body) {
    constexpr std::size_t kBack = 24;
    constexpr std::size_t kShortest = 4;  // copy
    constexpr std::size_t kLongest = 11;
    constexpr std::size_t kLongestLiteral = 60;
    std::string block;
    for (std::size_t size = body.size(); size > 0x7F; size >>= 7U) {
      block += static_cast<char>((size & 0x7FU) | 0x80U);
    }
    block += static_cast<char>(body.size() >> (7 * block.size()));
    std::string_view literal;
    const auto put_literal = [&] {
      if (!literal.empty()) {
        block += static_cast<char>((literal.size() - 1) << 2U);
        block += literal;
      }
      literal = {};
    };
    for (std::size_t at = 0; at < body.size();) {
      std::size_t equal = 0;
      while (at >= kBack && equal < kLongest && at + equal < body.size() &&
             body[at + equal] == body[at + equal - kBack]) {
        ++equal;
      }
      if (equal >= kShortest) {
        put_literal();
        block += static_cast<char>(((equal - kShortest) << 2U) | 1U);
        block += static_cast<char>(kBack);
        at += equal;
        continue;
      }
      literal = body.substr(at - literal.size(), literal.size() + 1);
      ++at;
      if (literal.size() == kLongestLiteral) {
        put_literal();
      }
    }
    put_literal();
    return block;
  }

 private:
  void put(std::string& to, std::uint64_t value, unsigned size) const {
    std::string bytes;
    for (unsigned i = 0; i < size; ++i) {
      bytes += static_cast<char>(value >> (8 * i));
    }
    if (is_big) {
      std::reverse(bytes.begin(), bytes.end());
    }
    to += bytes;
  }
};

struct SpoorName {
  std::uint64_t id = 0;
  std::string linkage_name;
  std::string name;
  std::string file;
  std::string folder;
  std::uint32_t line = 0;
};

/// A file .spoor_symbols with a row for each; names of one id that follow each other are in one.
inline std::string spoor_symbols(const std::vector<SpoorName>& names) {
  ProtoMessage file;
  for (std::size_t i = 0; i < names.size();) {
    ProtoMessage infos;
    const std::uint64_t id = names[i].id;
    for (; i < names.size() && names[i].id == id; ++i) {
      ProtoMessage info;
      info.bytes(1, "/src/demo.ll");
      info.bytes(2, names[i].linkage_name);
      info.bytes(3, names[i].name);
      info.bytes(4, names[i].file);
      info.bytes(5, names[i].folder);
      info.number(6, names[i].line);
      info.number(7, 42);
      info.number(8, 1);
      info.bytes(9, "default");
      infos.message(1, info);
    }
    ProtoMessage row;
    row.number(1, id);
    row.message(2, infos);
    file.message(1, row);
  }
  return file.text();
}

}  // namespace sp::profiler::test
