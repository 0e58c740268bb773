#include "profiler/crash/crash_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/crash/signal_names.h"
#include "profiler/formats/crash_json.h"

namespace sp::profiler {
namespace {

/// Summaries show fewer.
constexpr std::size_t kMostListed = 16;

std::string file_name(std::size_t number) {
  return number == 1 ? "crash.json" : fmt::format("crash-{}.json", number);
}

std::string signal_text(const core::CrashSignal& signal) {
  std::string text = signal_name(signal.number);
  if (const auto code = signal_code_name(signal.number, signal.code); !code.empty()) {
    text += fmt::format(" ({})", code);
  }
  if (signal.address) {
    text += fmt::format(" at {:#x}", *signal.address);
  } else if (signal.sender != 0) {
    text += fmt::format(" by process {}", signal.sender);
  }
  return text;
}

WrittenCrashes::Crash summed_up(const NamedCrash& crash, std::string file) {
  WrittenCrashes::Crash sum{.pid = crash.pid,
                            .signal = signal_text(crash.signal),
                            .function = {},
                            .source = {},
                            .tid = 0,
                            .thread = {},
                            .file = std::move(file)};
  if (!crash.threads.empty()) {
    const CrashThread& thread = crash.threads.front();
    sum.tid = thread.tid;
    sum.thread = thread.name;
    if (!thread.calls.empty()) {
      const CrashCall& call = thread.calls.front();
      sum.function = call.function;
      sum.source =
          call.source ? fmt::format("{}:{}", call.source->file, call.source->line) : std::string();
    }
  }
  return sum;
}

std::string command_of(core::ProcessId process, const Profile& profile) {
  for (const core::ProcessSeen& seen : profile.processes()) {
    if (seen.process == process) {
      return seen.command;
    }
  }
  return "";
}

}  // namespace

NamedCrash CrashRecorder::add(const core::CrashSeen& seen, const Run& run, const Profile& profile,
                              Namer& namer) {
  NamedCrash crash = name_crash(seen, profile.modules(), namer);
  crash.command = command_of(seen.process, profile);
  ++crashes_.all;
  std::string name;
  if (crashes_.all <= kMostFiles) {
    const CrashReport report{crash, run.version, run.host_arch, run.started};
    auto file = directory_.write(file_name(crashes_.all),
                                 [&report](std::ostream& out) { write_crash_json(out, report); });
    if (file) {
      name = file->name;
      files_.push_back(std::move(*file));
    } else {
      failures_.push_back(std::move(file.error()));
    }
  }
  if (crashes_.first.size() < kMostListed) {
    crashes_.first.push_back(summed_up(crash, std::move(name)));
  }
  return crash;
}

void CrashRecorder::complete(WrittenCrashes& crashes, std::vector<WrittenFile>& files,
                             std::vector<core::Error>& failures) {
  for (std::size_t number = 1; number <= kMostFiles; ++number) {
    if (const std::string name = file_name(number); !directory_.has_made(name)) {
      directory_.remove(name);
    }
  }
  crashes = crashes_;
  files.insert(files.end(), files_.begin(), files_.end());
  failures.insert(failures.end(), failures_.begin(), failures_.end());
}

}  // namespace sp::profiler
