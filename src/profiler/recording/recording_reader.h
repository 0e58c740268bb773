#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "profiler/recording/container_reader.h"
#include "profiler/recording/recording.h"
#include "profiler/recording/texts.h"

namespace sp::profiler {

/// Reads recording.sp: the tables at once, what may be long piece by piece. What is damaged ends
/// what can be read; nothing that a file says makes it take more memory than a run may need.
class RecordingReader {
 public:
  /// `in` must outlive it; `name` is for messages. Errors: those of ContainerReader::open().
  [[nodiscard]] static core::Result<RecordingReader> open(std::istream& in, std::string name);

  [[nodiscard]] const ContainerHeader& header() const { return container_.header(); }
  [[nodiscard]] std::uint64_t file_size() const { return container_.size(); }
  /// That of ContainerReader: it may grow with what is read.
  [[nodiscard]] const std::string& damage() const { return container_.damage(); }

  [[nodiscard]] const std::vector<RecordingModule>& modules() const { return modules_; }
  /// The number of a module in modules(), or nothing.
  [[nodiscard]] const RecordingModule* module(std::uint32_t id) const;
  [[nodiscard]] const std::vector<RecordingProcess>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<RecordingThread>& threads() const { return threads_; }
  [[nodiscard]] const std::vector<RecordingPlace>& places() const { return places_; }
  [[nodiscard]] const std::vector<RecordingNode>& nodes() const { return nodes_; }
  [[nodiscard]] std::string_view text(std::uint32_t number) const { return run_texts_[number]; }

  /// In the order in which they arrived; those of one thread are in the order of their times.
  void for_each_sample(const std::function<void(const RecordingSample&)>& visit);
  [[nodiscard]] RecordingSamples samples();

  /// False if the run was ended before it wrote a set of names and facts.
  [[nodiscard]] bool has_set() const { return set_ != 0; }
  /// run.json of the last set; "" if there is none.
  [[nodiscard]] std::string facts();
  [[nodiscard]] const std::vector<RecordingFunction>& functions() const { return functions_; }
  /// Innermost last. Empty if there are no names.
  [[nodiscard]] std::span<const RecordingName> names_of(std::uint32_t place) const;
  /// By node: the samples that ended there, of all samples. Summed up from the single ones if
  /// these are more than the set has: the run was killed.
  [[nodiscard]] std::vector<std::uint64_t> sums();
  [[nodiscard]] const std::vector<RecordingCode>& code() const { return code_; }
  void for_each_block(const std::function<void(const RecordingBlock&)>& visit);
  void for_each_edge(const std::function<void(const RecordingEdge&)>& visit);

 private:
  explicit RecordingReader(ContainerReader container) : container_(std::move(container)) {}

  void load();
  void choose_set();

  ContainerReader container_;
  std::uint32_t set_ = 0;
  Texts run_texts_;
  Texts set_texts_;
  std::vector<RecordingModule> modules_;
  std::unordered_map<std::uint32_t, std::size_t> module_numbers_;
  std::vector<RecordingProcess> processes_;
  std::vector<RecordingThread> threads_;
  std::vector<RecordingPlace> places_;
  std::vector<RecordingNode> nodes_;
  std::vector<RecordingFunction> functions_;
  std::vector<RecordingName> names_;
  std::vector<std::size_t> name_ends_;  // by place
  std::vector<RecordingCode> code_;
};

}  // namespace sp::profiler
