#include "profiler/formats/autofdo.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <ostream>
#include <string_view>

namespace sp::profiler {
namespace {

struct Position {
  std::uint32_t line = 0;
  std::uint32_t discriminator = 0;

  auto operator<=>(const Position&) const = default;
};

struct Line {
  std::uint64_t count = 0;
  std::map<std::string, std::uint64_t> callees;
};

/// A function, or an inlined copy of one.
struct TreeNode {
  std::map<Position, Line> lines;
  std::map<std::pair<Position, std::string>, std::unique_ptr<TreeNode>> inlined;

  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& [position, line] : lines) {
      sum += line.count;
    }
    for (const auto& [call, node] : inlined) {
      sum += node->total();
    }
    return sum;
  }
};

/// The format has lines, and parts between blanks and colons of which the last ones are numbers.
bool is_writable(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isspace(byte) != 0 || byte < 0x20 || byte == 0x7f;
  });
}

void add(TreeNode& root, const CountedPlace& place) {
  TreeNode* node = &root;
  for (std::size_t i = 0; i + 1 < place.frames.size(); ++i) {
    const CountedPlace::Frame& call = place.frames[i];
    auto& child = node->inlined[{{call.line, call.discriminator}, place.frames[i + 1].function}];
    if (child == nullptr) {
      child = std::make_unique<TreeNode>();
    }
    node = child.get();
  }
  const CountedPlace::Frame& leaf = place.frames.back();
  Line& line = node->lines[{leaf.line, leaf.discriminator}];
  line.count = std::max(line.count, place.count);
  for (const auto& [callee, calls] : place.callees) {
    if (is_writable(callee)) {
      line.callees[callee] += calls;
    }
  }
}

std::string text_of(const Position& position) {
  return position.discriminator == 0 ? fmt::format("{}", position.line)
                                     : fmt::format("{}.{}", position.line, position.discriminator);
}

/// `depth` is at most that of the inlined calls in the program.
void write_node(std::ostream& out, const TreeNode& node, std::size_t depth) {
  const std::string indent(depth, ' ');
  for (const auto& [position, line] : node.lines) {
    fmt::print(out, "{}{}: {}", indent, text_of(position), line.count);
    for (const auto& [callee, calls] : line.callees) {
      fmt::print(out, " {}:{}", callee, calls);
    }
    out << '\n';
  }
  for (const auto& [call, callee] : node.inlined) {
    if (const std::uint64_t total = callee->total(); total > 0) {
      fmt::print(out, "{}{}: {}:{}\n", indent, text_of(call.first), call.second, total);
      write_node(out, *callee, depth + 1);
    }
  }
}

}  // namespace

bool write_autofdo(std::ostream& out, const CountedSource& source) {
  TreeNode root;
  for (const CountedPlace& place : source.places) {
    const bool writable =
        !place.frames.empty() &&
        std::all_of(place.frames.begin() + 1, place.frames.end(),
                    [](const CountedPlace::Frame& frame) { return is_writable(frame.function); });
    if (writable) {
      add(root, place);
    }
  }
  const std::uint64_t total = root.total();
  if (total == 0 || !is_writable(source.function)) {
    return false;
  }
  fmt::print(out, "{}:{}:{}\n", source.function, total, source.head);
  write_node(out, root, 1);
  return true;
}

}  // namespace sp::profiler
