#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "core/messages.h"
#include "core/module.h"
#include "profiler/id_index.h"

namespace sp::profiler {

/// The number of samples, by what is known of each.
struct SampleCounts {
  std::uint64_t on_cpu = 0;
  std::uint64_t blocked = 0;
  std::uint64_t with_stack = 0;  // the others have only a pc (--trace-prob)
  std::uint64_t truncated = 0;   // of those with a stack
  /// By StackEnd: how the stacks ended.
  std::array<std::uint64_t, 5> ends{};
  std::uint64_t collapsed = 0;  // counted at an outer frame because the tree was full
  std::uint64_t lost = 0;       // dropped before they arrived: a channel was full

  [[nodiscard]] std::uint64_t total() const { return on_cpu + blocked; }
};

enum class StepKind : std::uint8_t {
  instruction,     // `value` in `module` was being executed
  return_address,  // `value` in `module` is a return address
  blocked,         // asleep in system call number `value` of syscalls()
  truncated,       // the stack's outer end is missing
  collapsed,       // the tree was full: inner frames are missing
  thread,          // number `value` of threads()
};

/// One step of a stack, from the outermost inwards: a frame, or a marker.
struct Step {
  std::uint64_t value = 0;
  core::ModuleId module{};
  StepKind kind = StepKind::instruction;

  bool operator==(const Step&) const = default;
};

/// Sums samples in a tree of addresses in which each distinct stack is one path. Memory is bounded:
/// if the tree is full, a sample is counted at its deepest known frame under a marker, and as
/// `collapsed`.
class Profile {
 public:
  /// A full tree takes about 130 MB; naming and writing it takes about three times as much.
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 22U;
  static constexpr std::size_t kMaxSteps = std::size_t{1} << 20U;  // distinct addresses
  static constexpr std::size_t kMaxThreads = std::size_t{1} << 16U;
  static constexpr std::size_t kMaxProcesses = std::size_t{1} << 16U;

  struct Node {
    std::uint32_t parent = IdIndex::kNone;
    std::uint32_t step = IdIndex::kNone;  // of steps(); none for the two roots
    std::uint64_t samples = 0;            // that ended here
  };
  struct Thread {
    core::ThreadId id;
    core::ProcessId process;
    std::string name;
    core::TimePoint seen{};  // first
  };
  /// Where a sample was counted.
  struct Placed {
    std::uint32_t node = 0;
    std::uint32_t thread = 0;  // of threads()
  };

  /// Node 0 is the root of all stacks, node 1 of the samples with only a pc. A node's parent has a
  /// smaller number.
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kPcOnlyRoot = 1;

  explicit Profile(bool by_thread, std::size_t max_nodes = kMaxNodes);

  Placed add(const core::SampleTaken& sample);
  /// Returns its number in modules().
  std::size_t add(const core::ModuleSeen& seen);
  void add(const core::ProcessSeen& seen);
  /// Returns its number in threads().
  std::uint32_t add(const core::ThreadSeen& seen);
  void add(const core::SamplesLost& lost) { counts_.lost += lost.samples; }
  /// Forgets all samples, and the threads that are not `alive` with their processes; an empty set
  /// stands for all. Those that stay count as first seen at `since`.
  void begin_again(const std::unordered_set<core::ThreadId>& alive, core::TimePoint since);

  [[nodiscard]] const SampleCounts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<std::string>& syscalls() const { return syscalls_; }
  [[nodiscard]] const std::vector<core::Module>& modules() const { return modules_; }
  [[nodiscard]] const std::vector<core::ProcessSeen>& processes() const { return processes_; }
  /// The number of processes beyond kMaxProcesses, which are not listed.
  [[nodiscard]] std::uint64_t unlisted_processes() const { return unlisted_processes_; }
  /// The last one stands for all threads beyond kMaxThreads and has tid 0.
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  [[nodiscard]] bool is_full() const { return nodes_.size() >= max_nodes_; }
  /// The memory that the tree uses now.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void count(const core::SampleTaken& sample);
  std::uint32_t add_stack(const core::SampleTaken& sample, std::uint32_t thread);
  std::uint32_t add_pc(const core::SampleTaken& sample);
  std::uint32_t child(std::uint32_t node, const Step& step);
  std::uint32_t make_child(std::uint32_t node, std::uint32_t step_id);
  [[nodiscard]] std::uint32_t find_child(std::uint32_t node, const Step& step) const;
  [[nodiscard]] std::uint32_t find_step(const Step& step) const;
  std::uint32_t make_step(const Step& step);
  std::uint32_t collapsed_under(std::uint32_t node);
  std::uint32_t thread_number(core::ThreadId id, core::ProcessId process, core::TimePoint seen);
  std::uint32_t syscall_number(const std::string& name);

  bool by_thread_;
  std::size_t max_nodes_;
  std::size_t hard_max_nodes_;
  SampleCounts counts_;
  std::vector<Node> nodes_;
  IdIndex node_index_;
  std::vector<Step> steps_;
  IdIndex step_index_;
  std::vector<Step> path_;                 // of the current sample, outermost first
  std::vector<Step> last_path_;            // of the previous sample
  std::vector<std::uint32_t> last_nodes_;  // the node of each of its steps
  std::vector<std::string> syscalls_;
  std::unordered_map<std::string, std::uint32_t> syscall_numbers_;
  std::vector<core::Module> modules_;
  std::unordered_map<std::uint32_t, std::size_t> module_places_;
  std::vector<core::ProcessSeen> processes_;
  std::uint64_t unlisted_processes_ = 0;
  std::vector<Thread> threads_;
  std::unordered_map<core::ThreadId, std::uint32_t> thread_numbers_;
};

}  // namespace sp::profiler
