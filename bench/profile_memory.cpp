// profile_memory [SAMPLES [STACKS]]
//
// What the aggregation of a long run costs: feeds SAMPLES (10 million) synthetic samples of a
// program with STACKS (200,000) distinct call paths, distributed as real ones are (few are hot,
// most are rare), and prints nanoseconds per sample, bytes, and the time to name and fold them.
// Then the same with a new stack every time, as the worst case.

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "block_namer.h"
#include "profiler/formats/folded.h"
#include "profiler/named_profile.h"
#include "profiler/profile.h"

namespace {

using sp::core::Frame;
using sp::core::ModuleId;
using sp::core::SampleTaken;
using sp::profiler::Profile;

using Random = std::mt19937_64;

/// CPU time of this thread, which does not depend on the load of the machine.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_since(double start) { return cpu_seconds() - start; }

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// A call path of 8 to 40 frames over 20,000 call sites. Paths share their outer parts, because at
/// every level a few sites are much more probable than the rest.
std::vector<Frame> random_path(Random& random) {
  std::uniform_int_distribution<int> length(8, 40);
  std::vector<Frame> outermost_first;
  std::uint64_t site = 1;
  for (int left = length(random); left > 0; --left) {
    const double u = std::uniform_real_distribution<double>(0.02, 1)(random);
    const auto choice = static_cast<std::uint64_t>(std::pow(u, -1.1));
    site = (site * 2654435761U + choice) % 20000;
    outermost_first.push_back({{ModuleId{static_cast<std::uint32_t>(site % 7)}, site * 32}, true});
  }
  outermost_first.back().is_return_address = false;
  std::reverse(outermost_first.begin(), outermost_first.end());
  return outermost_first;
}

void bench_real(std::uint64_t samples, std::size_t stacks) {
  Random random(42);
  std::vector<SampleTaken> paths(stacks);
  std::uint64_t frames = 0;
  for (SampleTaken& path : paths) {
    path.stack.frames = random_path(random);
    frames += path.stack.frames.size();
  }
  // Rank r has a probability of about 1/r, and the pc varies within its function.
  std::uniform_real_distribution<double> uniform(0, 1);
  Profile profile(false);
  double adding = 0;
  std::vector<SampleTaken> batch(10000);
  for (std::uint64_t done = 0; done < samples; done += batch.size()) {
    for (SampleTaken& sample : batch) {
      const double rank = std::pow(static_cast<double>(stacks), uniform(random)) - 1;
      sample = paths[static_cast<std::size_t>(rank)];
      sample.stack.frames.front().where.offset += random() % 32;
    }
    const double start = cpu_seconds();
    for (const SampleTaken& sample : batch) {
      profile.add(sample);
    }
    adding += seconds_since(start);
  }
  std::printf("samples %llu, call paths %zu, %.1f frames a stack\n",
              static_cast<unsigned long long>(profile.counts().total()), stacks,
              static_cast<double>(frames) / static_cast<double>(stacks));
  std::printf(
      "  adding: %.0f ns a sample; tree: %zu nodes, %zu addresses, %.1f MB; collapsed %llu\n",
      1e9 * adding / static_cast<double>(samples), profile.nodes().size(), profile.steps().size(),
      static_cast<double>(profile.bytes()) / 1e6,
      static_cast<unsigned long long>(profile.counts().collapsed));
  const double start = cpu_seconds();
  BlockNamer namer;
  const sp::profiler::NamedProfile named = sp::profiler::name_profile(profile, namer);
  const double naming = seconds_since(start);
  std::ostringstream folded;
  sp::profiler::write_folded(folded, named);
  std::printf("  naming %.2f s, folding %.2f s (%.1f MB); peak of the process %.0f MB\n", naming,
              seconds_since(start) - naming, static_cast<double>(folded.str().size()) / 1e6,
              static_cast<double>(peak_kib()) / 1024);
}

void bench_bound(std::uint64_t samples) {
  Random random(1);
  Profile profile(false);
  SampleTaken sample;
  sample.stack.frames.resize(20);
  const double begin = cpu_seconds();
  for (std::uint64_t i = 0; i < samples; ++i) {
    for (Frame& frame : sample.stack.frames) {
      frame = {{ModuleId{1}, random()}, true};
    }
    profile.add(sample);
  }
  const double adding = seconds_since(begin);
  std::printf("every frame new, %llu samples of 20 frames\n",
              static_cast<unsigned long long>(samples));
  std::printf(
      "  adding: %.0f ns a sample; tree: %zu nodes, %.1f MB; collapsed %llu; peak %.0f MB\n",
      1e9 * adding / static_cast<double>(samples), profile.nodes().size(),
      static_cast<double>(profile.bytes()) / 1e6,
      static_cast<unsigned long long>(profile.counts().collapsed),
      static_cast<double>(peak_kib()) / 1024);
  const double start = cpu_seconds();
  BlockNamer namer;
  const sp::profiler::NamedProfile named = sp::profiler::name_profile(profile, namer);
  std::printf("  naming %.2f s, %zu functions; peak of the process %.0f MB\n", seconds_since(start),
              named.functions.size(), static_cast<double>(peak_kib()) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t samples = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000000;
  const std::size_t stacks = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200000;
  bench_real(samples, stacks);
  bench_bound(std::max<std::uint64_t>(samples / 20, 1));
  return 0;
}
