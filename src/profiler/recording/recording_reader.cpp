#include "profiler/recording/recording_reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "profiler/recording/recording_rows.h"

namespace sp::profiler {

using Payload = std::span<const std::byte>;

core::Result<RecordingReader> RecordingReader::open(std::istream& in, std::string name) {
  auto container = ContainerReader::open(in, std::move(name));
  if (!container) {
    return tl::unexpected(container.error());
  }
  RecordingReader reader(std::move(*container));
  reader.load();
  return reader;
}

void RecordingReader::load() {
  const auto read = [this](ChunkKind kind, std::uint32_t set, const ContainerReader::Visit& visit) {
    container_.for_each(kind, set, visit);
  };
  read(ChunkKind::strings, 0, [this](Payload payload) { return run_texts_.add(payload); });
  std::vector<NumberedModule> rows;
  read(ChunkKind::modules, 0,
       [&](Payload payload) { return read_modules(payload, run_texts_, rows); });
  for (const NumberedModule& row : rows) {
    const auto [place, is_new] = module_numbers_.try_emplace(row.id, modules_.size());
    if (is_new) {
      modules_.push_back(row.module);
    } else {
      modules_[place->second] = row.module;
    }
  }
  read(ChunkKind::processes, 0,
       [this](Payload payload) { return read_processes(payload, run_texts_, processes_); });
  read(ChunkKind::threads, 0,
       [this](Payload payload) { return read_threads(payload, run_texts_, threads_); });
  read(ChunkKind::places, 0, [this](Payload payload) { return read_places(payload, places_); });
  read(ChunkKind::stacks, 0,
       [this](Payload payload) { return read_nodes(payload, places_.size(), nodes_); });
  choose_set();
  if (set_ == 0) {
    return;
  }
  read(ChunkKind::strings, set_, [this](Payload payload) { return set_texts_.add(payload); });
  read(ChunkKind::functions, set_,
       [this](Payload payload) { return read_functions(payload, set_texts_, functions_); });
  read(ChunkKind::names, set_, [this](Payload payload) {
    return read_names(payload, set_texts_, functions_.size(), names_, name_ends_);
  });
  read(ChunkKind::code, set_,
       [this](Payload payload) { return read_code(payload, set_texts_, code_); });
}

/// The last one that is complete.
void RecordingReader::choose_set() {
  for (const ContainerReader::Chunk& chunk : container_.chunks()) {
    if (chunk.kind == ChunkKind::set_end) {
      set_ = std::max(set_, chunk.set);
    }
  }
}

const RecordingModule* RecordingReader::module(std::uint32_t id) const {
  const auto found = module_numbers_.find(id);
  return found == module_numbers_.end() ? nullptr : &modules_[found->second];
}

std::span<const RecordingName> RecordingReader::names_of(std::uint32_t place) const {
  if (place >= name_ends_.size()) {
    return {};
  }
  const std::size_t begin = place == 0 ? 0 : name_ends_[place - 1];
  return std::span(names_).subspan(begin, name_ends_[place] - begin);
}

void RecordingReader::for_each_sample(const std::function<void(const RecordingSample&)>& visit) {
  // The stride only grows. What an earlier one kept is thinned to the last one.
  std::uint64_t stride = 1;
  SampleChunk chunk;
  container_.for_each(ChunkKind::samples, 0, [&](Payload payload) {
    const bool is_good = read_samples(payload, nodes_.size(), chunk);
    stride = std::max(stride, chunk.stride);
    return is_good;
  });
  container_.for_each(ChunkKind::samples, 0, [&](Payload payload) {
    if (!read_samples(payload, nodes_.size(), chunk)) {
      return false;
    }
    std::uint64_t number = chunk.first;
    for (const RecordingSample& sample : chunk.samples) {
      if (number % stride == 0) {
        visit(sample);
      }
      number += chunk.stride;
    }
    return true;
  });
}

RecordingSamples RecordingReader::samples() {
  RecordingSamples sum;
  SampleChunk chunk;
  container_.for_each(ChunkKind::samples, 0, [&](Payload payload) {
    const bool is_good = read_samples(payload, nodes_.size(), chunk);
    sum.stride = std::max(sum.stride, chunk.stride);
    return is_good;
  });
  for_each_sample([&](const RecordingSample& sample) {
    sum.first_ns = sum.kept == 0 ? sample.time_ns : std::min(sum.first_ns, sample.time_ns);
    sum.last_ns = sum.kept == 0 ? sample.time_ns : std::max(sum.last_ns, sample.time_ns);
    ++sum.kept;
    sum.weight += sample.weight;
  });
  return sum;
}

std::string RecordingReader::facts() {
  constexpr std::size_t kMost = std::size_t{1} << 28U;
  std::string text;
  if (set_ == 0) {
    return text;
  }
  container_.for_each(ChunkKind::facts, set_, [&](Payload payload) {
    text.append(static_cast<const char*>(static_cast<const void*>(payload.data())), payload.size());
    return text.size() <= kMost;
  });
  return text;
}

/// The set may be of an early snapshot, or samples may be missing: what has more knows more.
std::vector<std::uint64_t> RecordingReader::sums() {
  std::vector<std::uint64_t> of_set;
  container_.for_each(ChunkKind::sums, set_, [&](Payload payload) {
    PayloadReader in(payload);
    while (in.has_more()) {
      of_set.push_back(in.u64());
    }
    return in.ok() && of_set.size() <= nodes_.size();
  });
  of_set.resize(nodes_.size());
  if (header().finished) {
    return of_set;
  }
  std::vector<std::uint64_t> of_samples(nodes_.size());
  for_each_sample([&](const RecordingSample& sample) { of_samples[sample.node] += sample.weight; });
  const auto all = [](const std::vector<std::uint64_t>& sums) {
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  };
  return all(of_set) < all(of_samples) ? of_samples : of_set;
}

void RecordingReader::for_each_block(const std::function<void(const RecordingBlock&)>& visit) {
  container_.for_each(ChunkKind::blocks, set_, [&](Payload payload) {
    return read_blocks(payload, set_texts_, code_.size(), visit);
  });
}

void RecordingReader::for_each_edge(const std::function<void(const RecordingEdge&)>& visit) {
  container_.for_each(ChunkKind::edges, set_,
                      [&](Payload payload) { return read_edges(payload, visit); });
}

}  // namespace sp::profiler
