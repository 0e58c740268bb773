#include "profiler/formats/pprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/formats/pprof_records.h"

namespace sp::profiler {
namespace {

class PprofWriter {
 public:
  PprofWriter(std::ostream& out, const RecordedRun& run, StackSource& stacks,
              const RecordedCode* code)
      : records_(out), run_(run), stacks_(stacks), code_(code) {}

  void write() {
    write_types();
    write_mappings();
    write_functions();
    stacks_.for_each([this](std::span<const std::uint32_t> frames, std::uint64_t samples) {
      locations_.assign(frames.rbegin(), frames.rend());
      for (std::uint64_t& location : locations_) {
        ++location;  // ids begin at 1
      }
      write_sample({samples, samples * run_.ns_per_sample(), 0, 0});
      if (in_stacks_.size() < stacks_.functions().size()) {
        in_stacks_.resize(stacks_.functions().size());
      }
      in_stacks_[frames.back()] += samples;
    });
    write_without_stack();
    write_calls();
    if (code_ != nullptr) {
      write_blocks();
    }
  }

 private:
  /// Samples, nanoseconds, calls, instructions.
  using Values = std::array<std::uint64_t, 4>;

  void write_types() {
    const bool counts_calls = std::any_of(
        stacks_.functions().begin(), stacks_.functions().end(),
        [](const RecordedFunction& function) { return function.calls.value_or(0) > 0; });
    has_ = {run_.samples > 0, run_.ns_per_sample() > 0, counts_calls, code_ != nullptr};
    if (std::none_of(has_.begin(), has_.end(), [](bool has) { return has; })) {
      has_[0] = true;  // a profile has at least one type
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {
        {{"samples", "count"},
         {"cpu", "nanoseconds"},
         {"calls", "count"},
         {"instructions", "count"}}};
    std::string_view main;
    for (const std::size_t i : {2U, 3U, 0U, 1U}) {  // what pprof shows first, last
      main = has_.at(i) ? kTypes.at(i).first : main;
    }
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      if (has_.at(i)) {
        records_.sample_type(kTypes.at(i).first, kTypes.at(i).second);
      }
    }
    records_.default_sample_type(main);
    records_.times(static_cast<std::uint64_t>(run_.started_ns),
                   static_cast<std::uint64_t>(run_.elapsed_seconds * 1e9));
    if (run_.ns_per_sample() > 0) {
      records_.period("cpu", "nanoseconds", run_.ns_per_sample());
    }
    write_comments();
  }

  void write_comments() {
    for (const std::string& comment :
         {run_.command, "superprofiler " + run_.version, "samples: " + run_.sampling(),
          run_.ns_per_sample() > 0
              ? std::string("cpu: the target's CPU time in equal shares for its samples")
              : std::string(),
          run_.counts_kind.empty()
              ? std::string("calls and instructions: not counted")
              : fmt::format("calls and instructions: {}; functions.tsv and blocks.tsv have the "
                            "kind of each",
                            run_.counts_kind)}) {
      if (!comment.empty()) {
        records_.comment(comment);
      }
    }
  }

  void write_mappings() {
    for (const RecordedModule& module : run_.modules) {
      if (!mappings_.contains(module.path)) {
        const std::uint64_t id =
            records_.mapping({module.base, end_of(module), module.path, module.build_id});
        mappings_[module.path] = {id, module.base};
      }
    }
  }

  /// The next module's base, or some address behind.
  [[nodiscard]] std::uint64_t end_of(const RecordedModule& module) const {
    std::uint64_t end = module.base + (std::uint64_t{1} << 31U);
    for (const RecordedModule& other : run_.modules) {
      end = other.base > module.base ? std::min(end, other.base) : end;
    }
    return end;
  }

  [[nodiscard]] std::uint64_t mapping_of(const std::string& path) const {
    const auto found = mappings_.find(path);
    return found == mappings_.end() ? 0 : found->second.id;
  }

  /// Function and location i + 1 are stacks_.functions()[i]. Their line is not given: the run's
  /// files have one for each function, and a viewer would take it for that of every sample.
  void write_functions() {
    for (const RecordedFunction& function : stacks_.functions()) {
      const std::uint64_t id = records_.function(function.name, function.file);
      by_name_.try_emplace({function.module, function.name}, id);
      records_.location(mapping_of(function.module), 0, id, 0);
    }
  }

  /// A sample at locations_.
  void write_sample(const Values& values) {
    std::vector<std::uint64_t> of_types;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (has_.at(i)) {
        of_types.push_back(values.at(i));
      }
    }
    records_.sample(locations_, of_types);
  }

  /// Samples that were taken without their stacks (-t): only the function is known.
  void write_without_stack() {
    if (run_.with_stack >= run_.samples) {
      return;
    }
    const auto functions = stacks_.functions();
    in_stacks_.resize(functions.size());
    // Frames of a name that several modules have stand for any of those rows.
    std::map<std::string_view, std::uint64_t> of_any;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].module.empty()) {
        of_any[functions[i].name] += in_stacks_[i];
      }
    }
    for (std::size_t i = 0; i < functions.size(); ++i) {
      std::uint64_t left =
          functions[i].self_samples - std::min(functions[i].self_samples, in_stacks_[i]);
      if (const auto any = of_any.find(functions[i].name); any != of_any.end()) {
        const std::uint64_t taken = std::min(left, any->second);
        any->second -= taken;
        left -= taken;
      }
      if (left > 0) {
        locations_ = {i + 1};
        write_sample({left, left * run_.ns_per_sample(), 0, 0});
      }
    }
  }

  void write_calls() {
    for (std::size_t i = 0; i < stacks_.functions().size(); ++i) {
      if (const std::uint64_t calls = stacks_.functions()[i].calls.value_or(0); calls > 0) {
        locations_ = {i + 1};
        write_sample({0, 0, calls, 0});
      }
    }
  }

  void write_blocks() {
    for (const RecordedCode::Block& block : code_->blocks) {
      const RecordedCode::Function& function = code_->functions[block.function];
      const auto mapping = mappings_.find(code_->modules[function.module]);
      const bool is_known = mapping != mappings_.end();
      locations_ = {records_.location(is_known ? mapping->second.id : 0,
                                      block.offset + (is_known ? mapping->second.base : 0),
                                      function_of(block), block.line)};
      write_sample({0, 0, 0, block.executed()});
    }
  }

  /// The function as it is in the file of the block's line: code of inlined functions comes from
  /// other files.
  std::uint64_t function_of(const RecordedCode::Block& block) {
    const auto [place, is_new] = in_files_.try_emplace({block.function, block.file}, 0);
    if (is_new) {
      const RecordedCode::Function& function = code_->functions[block.function];
      const auto row = by_name_.find({code_->modules[function.module], function.name});
      const std::string& file = code_->files[block.file];
      const bool is_same = row != by_name_.end() && row->second <= stacks_.functions().size() &&
                           stacks_.functions()[row->second - 1].file == file;
      place->second = is_same ? row->second : records_.function(function.name, file);
    }
    return place->second;
  }

  struct Mapping {
    std::uint64_t id = 0;
    std::uint64_t base = 0;
  };

  PprofRecords records_;
  const RecordedRun& run_;
  StackSource& stacks_;
  const RecordedCode* code_;
  std::array<bool, 4> has_{};
  std::vector<std::uint64_t> locations_;
  std::vector<std::uint64_t> in_stacks_;  // by function: samples in it itself
  std::unordered_map<std::string, Mapping> mappings_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> by_name_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> in_files_;
};

}  // namespace

void write_pprof(std::ostream& out, const RecordedRun& run, StackSource& stacks,
                 const RecordedCode* code) {
  PprofWriter(out, run, stacks, code).write();
}

}  // namespace sp::profiler
