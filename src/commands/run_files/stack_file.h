#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "commands/run_files/run_stacks.h"
#include "core/result.h"
#include "profiler/recorded_run.h"

namespace sp::run_files {

/// stacks.folded, read as often as wanted. Holds the names of functions, one frame's text, and the
/// numbers of one stack.
class StackFile final : public RunStacks {
 public:
  /// `rows` are those of functions.tsv. A frame whose name only one of them has is that function;
  /// other frames become functions without a module.
  [[nodiscard]] static core::Result<std::unique_ptr<StackFile>> open(
      const std::string& path, std::vector<profiler::RecordedFunction> rows);

  [[nodiscard]] std::span<const profiler::RecordedFunction> functions() const override {
    return functions_;
  }
  void for_each(const Visit& visit) override;
  [[nodiscard]] bool may_be_row(std::uint32_t function) const override { return function < rows_; }
  [[nodiscard]] std::vector<profiler::RecordedFunction> rows() const override {
    return {functions_.begin(), functions_.begin() + static_cast<std::ptrdiff_t>(rows_)};
  }

  /// "PATH is damaged in line 7"; known from the beginning.
  [[nodiscard]] const std::string& damage() const override { return damage_; }

 private:
  /// Lets a name be looked up without a copy of it.
  struct NameHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  StackFile(std::string path, std::vector<profiler::RecordedFunction> rows);

  [[nodiscard]] core::Result<void> read(const Visit& visit);
  [[nodiscard]] bool take(std::string_view part, bool is_last, const Visit& visit);
  [[nodiscard]] std::uint32_t number_of(std::string_view name);

  std::string path_;
  std::vector<profiler::RecordedFunction> functions_;
  std::size_t rows_;                // of functions_, the first ones
  std::vector<std::string> names_;  // of functions_, as in the file
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> numbers_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> last_stack_;  // lines are sorted: the next one begins alike
  std::size_t line_ = 1;
  std::string damage_;
};

}  // namespace sp::run_files
