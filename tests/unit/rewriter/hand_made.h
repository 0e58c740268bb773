#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "core/function_copy.h"
#include "unit/arch/bytes.h"

namespace sp::rewriter {

inline constexpr core::Address kStart{0x401000};
inline constexpr core::CopyPlace kPlace{core::Address{0x501000}, 0x10000, 0x40000000};

/// A function of given bytes, with the graph that the profiler makes of them.
class HandMade {
 public:
  explicit HandMade(std::vector<std::byte> code, std::vector<core::Address> leaders = {kStart})
      : code_(std::move(code)) {
    function_.bounds = {kStart, kStart + code_.size()};
    graph_ = analyzer::build_control_flow_graph(
        function_.bounds, leaders, [this](core::Address from, std::span<std::byte> into) {
          const std::size_t at = from - kStart;
          const std::size_t size = at < code_.size() ? std::min(into.size(), code_.size() - at) : 0;
          std::copy_n(code_.begin() + static_cast<std::ptrdiff_t>(at), size, into.begin());
          return size;
        });
    function_.code = code_;
    function_.graph = &graph_;
    function_.entries = {kStart};
    function_.is_complete = true;
  }
  explicit HandMade(std::string_view hex) : HandMade(arch::bytes_of(hex)) {}
  HandMade(const HandMade&) = delete;
  HandMade& operator=(const HandMade&) = delete;

  core::FunctionToCopy* operator->() { return &function_; }
  core::FunctionToCopy& operator*() { return function_; }
  core::ControlFlowGraph& graph() { return graph_; }

 private:
  std::vector<std::byte> code_;
  core::ControlFlowGraph graph_;
  core::FunctionToCopy function_;
};

}  // namespace sp::rewriter
