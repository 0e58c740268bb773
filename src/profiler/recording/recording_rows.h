#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/recording/texts.h"

/// What the chunks of a recording hold. Each function takes one chunk and returns false if it is
/// damaged, or if there would be more than a run can have.
namespace sp::profiler {

struct NumberedModule {
  std::uint32_t id = 0;
  RecordingModule module;
};

[[nodiscard]] bool read_modules(std::span<const std::byte> payload, const Texts& texts,
                                std::vector<NumberedModule>& modules);
[[nodiscard]] bool read_processes(std::span<const std::byte> payload, const Texts& texts,
                                  std::vector<RecordingProcess>& processes);
/// Later rows of a thread replace earlier ones.
[[nodiscard]] bool read_threads(std::span<const std::byte> payload, const Texts& texts,
                                std::vector<RecordingThread>& threads);
[[nodiscard]] bool read_places(std::span<const std::byte> payload,
                               std::vector<RecordingPlace>& places);
/// A node's parent has a smaller number, and its place is known, except of the two roots.
[[nodiscard]] bool read_nodes(std::span<const std::byte> payload, std::size_t places,
                              std::vector<RecordingNode>& nodes);

struct SampleChunk {
  std::uint64_t first = 0;  // number of its first sample
  std::uint64_t stride = 1;
  std::vector<RecordingSample> samples;
};
[[nodiscard]] bool read_samples(std::span<const std::byte> payload, std::size_t nodes,
                                SampleChunk& chunk);

[[nodiscard]] bool read_functions(std::span<const std::byte> payload, const Texts& texts,
                                  std::vector<RecordingFunction>& functions);
/// `ends` has for each place the end of its names.
[[nodiscard]] bool read_names(std::span<const std::byte> payload, const Texts& texts,
                              std::size_t functions, std::vector<RecordingName>& names,
                              std::vector<std::size_t>& ends);
[[nodiscard]] bool read_code(std::span<const std::byte> payload, const Texts& texts,
                             std::vector<RecordingCode>& code);
[[nodiscard]] bool read_blocks(std::span<const std::byte> payload, const Texts& texts,
                               std::size_t code,
                               const std::function<void(const RecordingBlock&)>& visit);
[[nodiscard]] bool read_edges(std::span<const std::byte> payload,
                              const std::function<void(const RecordingEdge&)>& visit);

}  // namespace sp::profiler
