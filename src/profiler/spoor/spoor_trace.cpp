#include "profiler/spoor/spoor_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/profile.h"
#include "profiler/spoor/ordered_frames.h"
#include "profiler/trace/trace_writer.h"

namespace sp::profiler {
namespace {

using core::Result;

constexpr std::size_t kMostSpoorFunctions = std::size_t{1} << 22U;
constexpr std::uint32_t kOwnEvent = 0x80000000U;

struct SpoorPart {
  std::string path;
  SpoorHeader header;
  std::int64_t first_ns = 0;  // of its events

  [[nodiscard]] auto order() const {
    return std::tie(header.run_id, header.thread, header.steady_ns, first_ns, path);
  }
};

struct SpoorThread {
  std::uint32_t number = 0;
  std::uint64_t events = 0;  // written
  OrderedFrames frames{};
};

/// 2^31 - 1 at most, and no less than 1: what a header says may be any number.
std::int32_t spoor_pid(std::int64_t process) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(process, 1, 0x7FFFFFFF));
}

/// All that have the id.
std::string joined_names(const std::vector<SpoorSymbol>& symbols, std::string SpoorSymbol::*name) {
  std::string names;
  for (const SpoorSymbol& symbol : symbols) {
    names += (names.empty() || (symbol.*name).empty() ? "" : " or ") + symbol.*name;
  }
  return names;
}

class SpoorJoin {
 public:
  SpoorJoin(ByteSink& sink, const SpoorSymbols& symbols) : writer_(sink), symbols_(symbols) {}

  Result<void> survey(const std::vector<std::string>& paths, const SpoorReader& read);
  Result<void> write(const SpoorReader& read);
  SpoorSums sums;

 private:
  Result<void> begin();
  Result<void> add(const SpoorPart& part, const SpoorFile& file);
  Result<SpoorThread*> thread_of(const SpoorHeader& header);
  Result<std::uint32_t> process_of(const SpoorHeader& header);
  Result<std::uint32_t> function_of(std::uint64_t id);
  Result<std::uint32_t> module_of(const std::string& path);
  [[nodiscard]] std::uint64_t ticks_of(std::int64_t ns) const;

  TraceWriter writer_;
  const SpoorSymbols& symbols_;
  std::vector<SpoorPart> parts_;
  std::int64_t start_ns_ = 0;
  std::map<std::uint64_t, std::uint32_t> processes_;                        // serials by run
  std::map<std::pair<std::uint64_t, std::uint64_t>, SpoorThread> threads_;  // by run and thread
  std::unordered_map<std::uint64_t, std::uint32_t> functions_;              // numbers by id
  std::map<std::string, std::uint32_t> modules_;
  std::vector<core::TraceEvent> events_;
};

/// Which files there are, in which order.
Result<void> SpoorJoin::survey(const std::vector<std::string>& paths, const SpoorReader& read) {
  std::optional<core::Error> first_error;
  for (const std::string& path : paths) {
    const auto file = read(path);
    if (!file) {
      sums.damage.push_back(file.error().message());
      first_error = first_error ? first_error : file.error();
      continue;
    }
    if (!file->damage.empty()) {
      sums.damage.push_back(file->damage);
    }
    const std::int64_t first_ns =
        file->events.empty() ? file->header.steady_ns : file->events.front().steady_ns;
    start_ns_ = parts_.empty() ? first_ns : std::min(start_ns_, first_ns);
    parts_.push_back({path, file->header, first_ns});
  }
  if (parts_.empty()) {
    return first_error ? Result<void>(tl::unexpected(*first_error))
                       : core::fail("no file is given");
  }
  std::sort(parts_.begin(), parts_.end(),
            [](const SpoorPart& a, const SpoorPart& b) { return a.order() < b.order(); });
  sums.run_id = parts_.front().header.run_id;
  return {};
}

Result<void> SpoorJoin::begin() {
  const SpoorHeader& first = parts_.front().header;
  const auto wrapping = [](std::int64_t ns) { return static_cast<std::uint64_t>(ns); };
  ContainerHeader header;
  header.run_id = first.run_id;
  header.realtime_ns = static_cast<std::int64_t>(wrapping(first.system_ns) -
                                                 wrapping(first.steady_ns) + wrapping(start_ns_));
  header.monotonic_ns = start_ns_;
  header.pid = static_cast<std::uint32_t>(spoor_pid(first.process));
  header.cpu = ContainerHeader::Cpu::x86_64;  // OrderedFrames are as if calls pushed
  if (auto begun = writer_.begin(header); !begun) {
    return begun;
  }
  return writer_.add_clock(0, 0);
}

Result<void> SpoorJoin::write(const SpoorReader& read) {
  if (auto begun = begin(); !begun) {
    return begun;
  }
  for (const SpoorPart& part : parts_) {
    auto file = read(part.path);
    if (!file) {
      return tl::unexpected(file.error());  // it was good a moment ago
    }
    if (auto added = add(part, *file); !added) {
      return added;
    }
  }
  sums.runs = processes_.size();
  sums.threads = threads_.size();
  sums.files = parts_.size();
  sums.functions = functions_.size();
  return writer_.finish();
}

Result<void> SpoorJoin::add(const SpoorPart& part, const SpoorFile& file) {
  auto thread = thread_of(part.header);
  if (!thread) {
    return tl::unexpected(thread.error());
  }
  events_.clear();
  for (const SpoorEvent& event : file.events) {
    const std::uint64_t ticks = ticks_of(event.steady_ns);
    const bool is_call = event.type == SpoorEvent::kEntry || event.type == SpoorEvent::kExit;
    if (!is_call) {
      const auto kind = (event.type & kOwnEvent) != 0 ? core::TraceEventKind::custom
                                                      : core::TraceEventKind::typed;
      events_.push_back(core::TraceEvent::at(kind, ticks, 0, 0));
      continue;
    }
    const auto function = function_of(event.function);
    if (!function) {
      return tl::unexpected(function.error());
    }
    OrderedFrames& frames = (*thread)->frames;
    events_.push_back(event.type == SpoorEvent::kEntry
                          ? core::TraceEvent::at(core::TraceEventKind::entry, ticks, *function,
                                                 frames.enter(*function))
                          : core::TraceEvent::at(core::TraceEventKind::ret, ticks, *function,
                                                 frames.leave(*function)));
  }
  const std::uint64_t first = (*thread)->events;
  (*thread)->events += events_.size();
  return writer_.add_events((*thread)->number, first, 0, events_);
}

/// The ids of threads are hashes: a thread is called by its order.
Result<SpoorThread*> SpoorJoin::thread_of(const SpoorHeader& header) {
  const std::pair key(header.run_id, header.thread);
  if (const auto found = threads_.find(key); found != threads_.end()) {
    return &found->second;
  }
  const auto process = process_of(header);
  if (!process) {
    return tl::unexpected(process.error());
  }
  const auto number = static_cast<std::uint32_t>(threads_.size());
  if (number > Profile::kMaxThreads) {
    return core::fail(fmt::format("the files have more than {} threads; convert some of them",
                                  Profile::kMaxThreads));
  }
  const auto ordinal = static_cast<std::int32_t>(number + 1);
  const auto added = writer_.add_thread(number, {ordinal, 1}, {spoor_pid(header.process), *process},
                                        fmt::format("thread {}", ordinal));
  if (!added) {
    return tl::unexpected(added.error());
  }
  return &threads_.emplace(key, SpoorThread{number}).first->second;
}

Result<std::uint32_t> SpoorJoin::process_of(const SpoorHeader& header) {
  const auto [found, is_new] =
      processes_.emplace(header.run_id, static_cast<std::uint32_t>(processes_.size() + 1));
  if (is_new) {
    const auto added = writer_.add_process({spoor_pid(header.process), found->second}, {},
                                           fmt::format("Spoor's run {:016x}", header.run_id));
    if (!added) {
      return tl::unexpected(added.error());
    }
  }
  return found->second;
}

Result<std::uint32_t> SpoorJoin::function_of(std::uint64_t id) {
  const auto [found, is_new] =
      functions_.emplace(id, static_cast<std::uint32_t>(functions_.size()));
  if (!is_new) {
    return found->second;
  }
  if (functions_.size() > kMostSpoorFunctions) {
    return core::fail(fmt::format("the files name more than {} functions: they are damaged",
                                  kMostSpoorFunctions));
  }
  const std::vector<SpoorSymbol>& symbols = symbols_.find(id);
  sums.without_name += symbols.empty() ? 1 : 0;
  const auto module = module_of(symbols.empty() ? std::string() : symbols.front().module);
  if (!module) {
    return tl::unexpected(module.error());
  }
  const std::string linkage_name = joined_names(symbols, &SpoorSymbol::linkage_name);
  std::string name = joined_names(symbols, &SpoorSymbol::name);
  if (name.empty() && linkage_name.empty()) {
    name = fmt::format("[function 0x{:016x}]", id);
  }
  // The lower half of an id is the function's number in its module.
  const auto added = writer_.add_function(
      found->second, {.module = *module,
                      .offset = static_cast<std::uint32_t>(id),
                      .id = id,
                      .linkage_name = linkage_name,
                      .name = name,
                      .file = symbols.empty() ? std::string_view() : symbols.front().file,
                      .line = symbols.empty() ? 0 : symbols.front().line});
  return added ? Result<std::uint32_t>(found->second) : tl::unexpected(added.error());
}

Result<std::uint32_t> SpoorJoin::module_of(const std::string& path) {
  const auto [found, is_new] = modules_.emplace(path, static_cast<std::uint32_t>(modules_.size()));
  if (is_new && !path.empty()) {
    const auto added = writer_.add_module(found->second, path, "", 0, core::ModuleKind::file);
    if (!added) {
      return tl::unexpected(added.error());
    }
  }
  return found->second;
}

std::uint64_t SpoorJoin::ticks_of(std::int64_t ns) const {
  return ns <= start_ns_ ? 0
                         : static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(start_ns_);
}

}  // namespace

Result<SpoorSums> write_spoor_trace(ByteSink& sink, const std::vector<std::string>& paths,
                                    const SpoorReader& read, const SpoorSymbols& symbols) {
  SpoorJoin join(sink, symbols);
  if (const auto found = join.survey(paths, read); !found) {
    return tl::unexpected(found.error());
  }
  if (const auto written = join.write(read); !written) {
    return tl::unexpected(written.error());
  }
  return std::move(join.sums);
}

}  // namespace sp::profiler
