#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/messages.h"
#include "profiler/tree/context_tree.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler::test {

/// Events of one thread, as they come with --tree. A function is known by where it begins in the
/// program, and has 0x100 bytes; its stack pointers are in words.
class TreeEvents {
 public:
  TreeEvents() { taken_.thread = {1, 1}; }

  TreeEvents& of_thread(pid_t tid) {
    taken_.thread = {tid, 1};
    return *this;
  }
  /// `returns_to`: an offset in the program.
  TreeEvents& enter(std::uint64_t function, std::uint64_t sp, std::uint64_t returns_to = 1) {
    taken_.batch.sites.push_back({kProgram, returns_to});
    return add(core::TraceEventKind::entry, taken_.batch.sites.size() - 1, function, sp);
  }
  TreeEvents& leave(std::uint64_t function, std::uint64_t sp) {
    return add(core::TraceEventKind::ret, 0, function, sp);
  }
  TreeEvents& jump(std::uint64_t function, std::uint64_t sp) {
    return add(core::TraceEventKind::tail, 0, function, sp);
  }
  TreeEvents& resume(std::uint64_t function, std::uint64_t sp) {
    return add(core::TraceEventKind::resumed, 0, function, sp);
  }
  TreeEvents& end() { return add(core::TraceEventKind::end, 0, 0, 0); }
  TreeEvents& lose(std::uint64_t events) {
    taken_.batch.lost = events;
    return *this;
  }

  [[nodiscard]] const core::TraceEventsTaken& taken() const { return taken_; }

 private:
  TreeEvents& add(core::TraceEventKind kind, std::uint64_t ticks, std::uint64_t function,
                  std::uint64_t sp) {
    const auto [number, is_new] =
        numbers_.try_emplace(function, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) {
      taken_.batch.functions.push_back({{kProgram, function}, 0x100});
    }
    taken_.batch.events.push_back(core::TraceEvent::at(kind, ticks, number->second, 8 * sp));
    return *this;
  }

  core::TraceEventsTaken taken_;
  std::map<std::uint64_t, std::uint32_t> numbers_;
};

/// One line a node, "  1000 at 2004 calls 3 self 1", children in the order of their numbers.
inline std::string shown(const ContextTree& tree) {
  const auto& nodes = tree.nodes().all();
  std::map<std::uint32_t, std::string> texts;
  const auto hex = [](std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof(text), "%lx", static_cast<unsigned long>(number));
    return std::string(text);
  };
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const ContextNodes::Node& node = nodes[i];
    std::string line(2 * node.depth, ' ');
    if (node.function == ContextNodes::kThread) {
      line += "thread " + std::to_string(tree.threads()[node.site].tid);
    } else if (node.function == ContextNodes::kNone) {
      line += "root";
    } else {
      line += hex(tree.functions().all()[node.function].start.offset);
      line += node.site == ContextNodes::kNone
                  ? std::string()
                  : " at " + hex(tree.nodes().sites()[node.site].offset);
    }
    line += node.calls > 0 ? " calls " + std::to_string(node.calls) : "";
    line += node.self > 0 ? " self " + std::to_string(node.self) : "";
    const auto number = static_cast<std::uint32_t>(i);
    texts[number] = line + "\n" + texts[number];
    if (i != ContextNodes::kRoot) {
      texts[node.parent] = texts[number] + texts[node.parent];
    }
  }
  return texts[ContextNodes::kRoot];
}

}  // namespace sp::profiler::test
