#include "profiler/formats/callgrind.h"

#include <fmt/format.h>

#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/formats/callgrind_graph.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

using Node = CallgrindGraph::Node;

/// "(3) name" the first time, then "(3)".
class Names {
 public:
  std::string of(std::string_view name) {
    const auto [place, is_new] = ids_.try_emplace(std::string(name), ids_.size() + 1);
    return is_new ? fmt::format("({}) {}", place->second,
                                name.empty() ? std::string("???") : folded_name(name))
                  : fmt::format("({})", place->second);
  }

 private:
  std::unordered_map<std::string, std::size_t> ids_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(std::ostream& out, const RecordedRun& run, StackSource& stacks,
                  const RecordedCode* code, CallgrindPositions positions)
      : out_(out),
        run_(run),
        code_(code),
        graph_(code, stacks),
        has_addresses_(code != nullptr && positions == CallgrindPositions::addresses),
        has_samples_(run.samples > 0) {
    has_events_ = code_ != nullptr || has_samples_;
    named_.resize(graph_.nodes().size());
  }

  void write() {
    write_head();
    std::size_t block = 0;
    for (std::uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      std::size_t end = block;
      while (code_ != nullptr && end < code_->blocks.size() &&
             code_->blocks[end].function == node) {
        ++end;
      }
      write_function(node, block, end);
      block = end;
    }
    out_ << "\ntotals: " << totals_ << '\n';
  }

 private:
  void write_head() {
    out_ << "# callgrind format\nversion: 1\ncreator: superprofiler " << run_.version
         << "\ncmd: " << folded_name(run_.command) << '\n';
    std::uint64_t executed = 0;
    std::uint64_t samples = 0;
    for (const Node& node : graph_.nodes()) {
      executed += node.executed;
      samples += node.samples;
    }
    if (code_ != nullptr) {
      const std::size_t blocks = code_->blocks.size();
      out_ << "desc: Ir: instructions executed, "
           << (code_->blocks_to_the_end == blocks
                   ? fmt::format("exact from start to end in all {} blocks", blocks)
                   : fmt::format("in counted blocks only; exact from start to end in {} of {}, "
                                 "blocks.tsv has the time span of the others",
                                 code_->blocks_to_the_end, blocks))
           << "\ndesc: Ir stands at the first instruction of each block\n"
              "desc: inclusive Ir is estimated: shared out to callers by their calls, or samples\n";
    }
    out_ << "desc: Samples: " << run_.sampling() << '\n';
    if (has_samples_) {
      out_ << "desc: Samples of a function stand at its line that has most of them\n"
              "desc: calls=1 stands for calls that were not counted, between sampled functions\n";
    }
    totals_ = costs(executed, samples);
    out_ << "positions: " << (has_addresses_ ? "instr line" : "line")
         << "\nevents:" << (code_ != nullptr || !has_events_ ? " Ir" : "")
         << (has_samples_ ? " Samples" : "") << "\nsummary: " << totals_ << '\n';
  }

  [[nodiscard]] std::string costs(std::uint64_t executed, std::uint64_t samples) const {
    const bool has_executed = code_ != nullptr || !has_events_;
    return has_executed && has_samples_ ? fmt::format("{} {}", executed, samples)
           : has_executed               ? fmt::format("{}", executed)
                                        : fmt::format("{}", samples);
  }
  [[nodiscard]] std::string position(std::uint64_t address, std::uint64_t line) const {
    return has_addresses_ ? fmt::format("{:#x} {}", address, line) : fmt::format("{}", line);
  }

  /// A function of one name may be there several times, so its number belongs to the node.
  std::string function_name(std::uint32_t number) {
    if (named_[number]) {
      return fmt::format("({})", number + 1);
    }
    named_[number] = true;
    return fmt::format("({}) {}", number + 1, folded_name(graph_.nodes()[number].name));
  }

  void write_function(std::uint32_t number, std::size_t block, std::size_t end) {
    const Node& node = graph_.nodes()[number];
    const auto& sampled = graph_.sampled_calls(number);
    if (block == end && node.samples == 0 && sampled.empty()) {
      return;
    }
    out_ << "\nob=" << objects_.of(node.module) << "\nfl=" << files_.of(node.file)
         << "\nfn=" << function_name(number) << '\n';
    if (node.samples > 0) {
      out_ << position(node.start, node.line) << ' ' << costs(0, node.samples) << '\n';
    }
    CallgrindGraph::SampledCalls rest = sampled;
    std::string_view file = node.file;
    for (; block < end; ++block) {
      write_block(static_cast<std::uint32_t>(block), node, file, rest);
    }
    if (!rest.empty() && file != node.file) {
      out_ << "fe=" << files_.of(node.file) << '\n';
    }
    for (const auto& [to, call] : rest) {
      write_called(to);
      out_ << "calls=1 " << position(graph_.nodes()[to].start, graph_.nodes()[to].line) << '\n'
           << position(node.start, node.line) << ' ' << costs(call.executed, call.samples) << '\n';
    }
  }

  /// `file` is that of the last line. The samples of a call go with the first counted one and are
  /// then taken off `sampled`.
  void write_block(std::uint32_t number, const Node& node, std::string_view& file,
                   CallgrindGraph::SampledCalls& sampled) {
    const RecordedCode::Block& block = code_->blocks[number];
    // Code of unknown origin stays where it is.
    const std::string_view own = block.file == 0 ? node.file : code_->files[block.file];
    if (own != file) {
      file = own;
      out_ << (own == node.file ? "fe=" : "fi=") << files_.of(own) << '\n';
    }
    out_ << position(block.offset, block.line) << ' ' << costs(block.executed(), 0) << '\n';
    for (; next_call_ < graph_.calls().size() && graph_.calls()[next_call_].block == number;
         ++next_call_) {
      const CallgrindGraph::Call& call = graph_.calls()[next_call_];
      const auto found = sampled.find(call.to_node);
      const std::uint64_t samples = found == sampled.end() ? 0 : found->second.samples;
      if (found != sampled.end()) {
        sampled.erase(found);
      }
      write_called(call.to_node);
      out_ << "calls=" << call.calls << ' ' << position(call.to, call.to_line) << '\n'
           << position(call.from, block.line) << ' ' << costs(call.executed, samples) << '\n';
    }
    for (; has_addresses_ && next_jump_ < graph_.jumps().size() &&
           graph_.jumps()[next_jump_].block == number;
         ++next_jump_) {
      write_jump(graph_.jumps()[next_jump_], block);
    }
  }

  void write_called(std::uint32_t number) {
    const Node& node = graph_.nodes()[number];
    out_ << "cob=" << objects_.of(node.module) << "\ncfi=" << files_.of(node.file)
         << "\ncfn=" << function_name(number) << '\n';
  }

  void write_jump(const CallgrindGraph::Jump& jump, const RecordedCode::Block& block) {
    const std::string to = position(jump.to, jump.to_line);
    out_ << (jump.conditional ? fmt::format("jcnd={}/{} {}\n", jump.taken, jump.executed, to)
                              : fmt::format("jump={} {}\n", jump.executed, to))
         << position(jump.from, block.line) << '\n';
  }

  std::ostream& out_;
  const RecordedRun& run_;
  const RecordedCode* code_;
  CallgrindGraph graph_;
  bool has_addresses_;  // jumps too: speedscope takes the position of one for a cost
  bool has_samples_;
  bool has_events_ = false;
  std::string totals_;
  Names objects_;
  Names files_;
  std::vector<bool> named_;
  std::size_t next_call_ = 0;
  std::size_t next_jump_ = 0;
};

}  // namespace

void write_callgrind(std::ostream& out, const RecordedRun& run, StackSource& stacks,
                     const RecordedCode* code, CallgrindPositions positions) {
  CallgrindWriter(out, run, stacks, code, positions).write();
}

}  // namespace sp::profiler
