#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sp::profiler {

/// One profile for a server with Pyroscope's /ingest.
struct Ingested {
  std::string program;              // its name, where no label gives another
  std::vector<std::string> labels;  // "KEY=VALUE"; the last of a key counts
  std::int64_t from = 0;            // seconds since 1970
  std::int64_t until = 0;
};

/// The address to post it to: `base` with /ingest where it has no path, and the query name=, from=,
/// until=, format=pprof, spyName=. Labels go into the name: NAME{k=v,l=w}. Characters that mean
/// something there (braces, commas, quotes) become '_'.
[[nodiscard]] std::string ingest_url(const std::string& base, const Ingested& profile);

}  // namespace sp::profiler
