#pragma once

#include <string>
#include <vector>

#include "commands/run_files/recording_file.h"
#include "commands/run_files/run_stacks.h"
#include "profiler/call_tree.h"
#include "profiler/named_profile.h"
#include "profiler/recording/place_names.h"

namespace sp::run_files {

/// The stacks of a recording: those of stacks.folded, in its order. Holds the tree of stacks.
class RecordedStacks final : public RunStacks {
 public:
  explicit RecordedStacks(RecordingFile recording);

  [[nodiscard]] std::span<const profiler::RecordedFunction> functions() const override {
    return names_.functions();
  }
  void for_each(const Visit& visit) override;
  [[nodiscard]] bool may_be_row(std::uint32_t function) const override {
    return profiler::has_row(names_.kind_of(function));
  }
  [[nodiscard]] std::vector<profiler::RecordedFunction> rows() const override;
  [[nodiscard]] const std::string& damage() const override { return recording_.reader.damage(); }

  [[nodiscard]] profiler::RecordingReader& recording() { return recording_.reader; }
  /// By node of the recording: the number of its stack in the order of for_each(), from 1; 0 if it
  /// has none.
  [[nodiscard]] std::vector<std::uint32_t> stack_numbers() const;

 private:
  void build_tree();
  void sum_functions();

  RecordingFile recording_;
  profiler::PlaceNames names_;
  std::vector<std::uint32_t> ranks_;     // by function: in the order of folded names
  profiler::CallTree tree_;              // functions of one name are one, as in stacks.folded
  std::vector<std::uint32_t> named_as_;  // by node of the recording: its node in tree_
  std::vector<std::uint64_t> pc_only_;   // by function: samples without a stack
};

}  // namespace sp::run_files
