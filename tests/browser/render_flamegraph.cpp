// render_flamegraph TITLE SUBTITLE < stacks.folded > flamegraph.svg
//
// Draws a folded file, so that browser tests need no run. Suffixes of names give their kind, as in
// other tools' files: _[l] library, _[j] JIT code, _[i] inlined; "[blocked: ...]" is used as it is.

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profiler/formats/flamegraph_svg.h"
#include "profiler/named_profile.h"

namespace {

using sp::profiler::CallTree;
using sp::profiler::FunctionKind;
using sp::profiler::NamedProfile;

struct Named {
  std::string_view name;
  FunctionKind kind = FunctionKind::executable;
  bool inlined = false;
};

Named read_name(std::string_view text) {
  const auto ends = [&text](std::string_view mark) {
    const bool does = text.ends_with(mark);
    text.remove_suffix(does ? mark.size() : 0);
    return does;
  };
  const bool inlined = ends("_[i]");
  if (ends("_[l]")) {
    return {text, FunctionKind::library, inlined};
  }
  if (ends("_[j]")) {
    return {text, FunctionKind::jit, inlined};
  }
  if (text.starts_with("[blocked: ")) {
    return {text, FunctionKind::blocked, false};
  }
  return {text, text.starts_with('[') ? FunctionKind::truncated : FunctionKind::executable,
          inlined};
}

std::string module_of(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::executable:
      return "/usr/bin/example";
    case FunctionKind::library:
      return "/usr/lib/libexample.so.1";
    case FunctionKind::jit:
      return "[jit]";
    case FunctionKind::blocked:
      return "[kernel]";
    case FunctionKind::unknown:
    case FunctionKind::collapsed:
    case FunctionKind::truncated:
    case FunctionKind::thread:
      return "";
  }
  return "";
}

class FoldedReader {
 public:
  void add(std::string_view line) {
    const std::size_t blank = line.rfind(' ');
    if (blank == std::string_view::npos) {
      return;
    }
    std::string_view stack = line.substr(0, blank);
    std::uint32_t node = CallTree::kRoot;
    while (!stack.empty()) {
      const std::size_t end = std::min(stack.find(';'), stack.size());
      const Named named = read_name(stack.substr(0, end));
      node = profile_.tree.child(node, number(named), named.inlined);
      stack.remove_prefix(std::min(end + 1, stack.size()));
    }
    profile_.tree.add_self(node, std::stoull(std::string(line.substr(blank + 1))));
  }

  [[nodiscard]] const NamedProfile& profile() const { return profile_; }

 private:
  std::uint32_t number(const Named& named) {
    const auto [place, is_new] = numbers_.try_emplace(
        std::string(named.name), static_cast<std::uint32_t>(profile_.functions.size()));
    if (is_new) {
      profile_.functions.push_back(
          {std::string(named.name), module_of(named.kind), {}, named.kind});
    }
    return place->second;
  }

  NamedProfile profile_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

int main(int argc, char** argv) {
  FoldedReader reader;
  for (std::string line; std::getline(std::cin, line);) {
    reader.add(line);
  }
  sp::profiler::write_flamegraph_svg(std::cout, reader.profile(),
                                     {argc > 1 ? argv[1] : "example", argc > 2 ? argv[2] : ""});
  return std::cout.good() ? 0 : 1;
}
