#include "profiler/trace_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "profiler/recorder.h"
#include "symbols/function_id.h"

namespace sp::profiler {

using core::Result;

TraceRecorder::TraceRecorder(RunDirectory& directory, core::TimePoint started,
                             std::function<core::RunFacts()> facts_now, std::uint64_t most_bytes)
    : directory_(&directory),
      started_(started),
      facts_now_(std::move(facts_now)),
      most_bytes_(most_bytes) {}

void TraceRecorder::add(const core::TraceEventsTaken& taken, const Profile& profile) {
  taken_ += taken.batch.events.size();
  events_of_[taken.thread] = taken.batch.first + taken.batch.events.size();
  if (!error_) {
    keep_and_say(write(taken, profile));
  }
}

Result<void> TraceRecorder::begin() {
  auto file = directory_->create_growing(std::string(kFile));
  if (!file) {
    return tl::unexpected(file.error());
  }
  file_ = std::move(*file);
  writer_.emplace(*file_);
  flushed_ = core::Clock::now();
  auto begun =
      writer_->begin(container_header(facts_now_ ? facts_now_() : core::RunFacts(), started_));
  if (!begun) {  // nothing may follow without a header
    writer_.reset();
    file_.reset();
    directory_->remove(std::string(kFile));
  }
  return begun;
}

Result<void> TraceRecorder::write(const core::TraceEventsTaken& taken, const Profile& profile) {
  if (!writer_) {
    if (auto begun = begin(); !begun) {
      return begun;
    }
  }
  std::vector<std::uint32_t> numbers;
  for (const auto& function : taken.batch.functions) {
    const auto number = function_number(function, profile);
    if (!number) {
      return tl::unexpected(number.error());
    }
    numbers.push_back(*number);
  }
  const bool has_any = !taken.batch.events.empty() || taken.batch.lost != 0;
  if (!has_any || !has_room_for(taken.batch.events.size())) {
    return {};
  }
  const auto thread = thread_number(taken.thread, taken.process);
  if (!thread) {
    return tl::unexpected(thread.error());
  }
  std::vector<core::TraceEvent> events = taken.batch.events;
  const auto stolen_before = stolen_before_.find(taken.thread);
  for (core::TraceEvent& event : events) {
    if (event.kind() == core::TraceEventKind::stolen) {
      stolen_from_[taken.thread] = event.ticks;
      event.ticks -=
          stolen_before == stolen_before_.end() ? 0 : std::min(stolen_before->second, event.ticks);
    }
    if (core::names_function(event.kind())) {
      event.function = numbers[event.function];
      functions_[event.function].entries += event.kind() == core::TraceEventKind::entry ? 1 : 0;
    }
  }
  const auto before = events_before_.find(taken.thread);
  const std::uint64_t first =
      taken.batch.first - (before == events_before_.end() ? 0 : before->second);
  return writer_->add_events(*thread, first, taken.batch.lost, events);
}

Result<std::uint32_t> TraceRecorder::thread_number(core::ThreadId thread, core::ProcessId process) {
  const auto number = static_cast<std::uint32_t>(threads_.size());
  const auto [known, is_new] = thread_numbers_.try_emplace(thread, number);
  if (is_new) {
    threads_.push_back({thread, process});
    if (auto added = writer_->add_thread(number, thread, process, {}); !added) {
      return tl::unexpected(added.error());
    }
  }
  return known->second;
}

Result<std::uint32_t> TraceRecorder::function_number(
    const core::TracedFunction<core::ModuleOffset>& function, const Profile& profile) {
  const auto number = static_cast<std::uint32_t>(functions_.size());
  const auto [known, is_new] = function_numbers_.try_emplace(function.start, number);
  if (!is_new) {
    core::TracedFunction<core::ModuleOffset>& before = functions_[known->second].traced;
    before.is_part = before.is_part || function.is_part;
    if (function.until && (!before.until || *function.until < *before.until)) {
      before.until = function.until;
      before.is_overwritten = function.is_overwritten;
    }
    return known->second;
  }
  const auto module = module_number(function.start.module, profile);
  if (!module) {
    return tl::unexpected(module.error());
  }
  functions_.push_back({function, *module});
  TraceFunction row;
  row.module = *module;
  row.offset = function.start.offset;
  row.size = function.size;
  row.is_part = function.is_part;
  row.id = id_of(functions_.back());
  if (auto added = writer_->add_function(number, row); !added) {
    return tl::unexpected(added.error());
  }
  return number;
}

Result<std::uint32_t> TraceRecorder::module_number(core::ModuleId id, const Profile& profile) {
  const auto number = static_cast<std::uint32_t>(module_hashes_.size());
  const auto [known, is_new] = module_numbers_.try_emplace(static_cast<std::uint32_t>(id), number);
  if (!is_new) {
    return known->second;
  }
  const auto& modules = profile.modules();
  const auto module = std::find_if(modules.begin(), modules.end(),
                                   [id](const core::Module& one) { return one.id == id; });
  const bool is_known = module != modules.end();
  const bool has_file = is_known && module->image != nullptr;
  module_hashes_.push_back(has_file ? std::optional(symbols::module_hash(*module->image))
                                    : std::nullopt);
  auto added = is_known
                   ? writer_->add_module(number, module->path, module->build_id,
                                         module->base.value(), module->kind)
                   : writer_->add_module(number, "[unknown]", {}, 0, core::ModuleKind::unknown);
  if (!added) {
    return tl::unexpected(added.error());
  }
  return number;
}

std::uint64_t TraceRecorder::id_of(const Function& function) const {
  return symbols::function_id(module_hashes_[function.module].value_or(0),
                              function.traced.start.offset);
}

void TraceRecorder::complete(std::span<SymbolRow> rows) const {
  struct End {
    double at = 0;
    bool is_overwritten = false;
  };
  std::unordered_map<std::uint64_t, End> ends;  // by id
  for (const Function& function : functions_) {
    if (const core::TracedFunction<core::ModuleOffset>& traced = function.traced; traced.until) {
      ends.emplace(id_of(function),
                   End{core::seconds(*traced.until - started_), traced.is_overwritten});
    }
  }
  for (const std::uint64_t id : ended_) {
    ends.emplace(id, End{});
  }
  for (SymbolRow& row : rows) {
    const auto found = ends.find(row.id);
    if (found == ends.end()) {
      continue;
    }
    const End& end = found->second;
    row.until = end.at;
    if (end.is_overwritten) {
      row.reason = fmt::format("overwritten:{:.3f}", end.at);
    } else if (!row.reason.starts_with("learned:")) {
      row.reason = fmt::format("too-hot:{:.3f}", end.at);
    }
  }
}

void TraceRecorder::tick(core::TimePoint now) {
  if (writer_ && !error_ && now >= flushed_ + kInterval) {
    flushed_ = now;
    keep_and_say(writer_->flush());
  }
}

std::uint64_t TraceRecorder::unwritten() const {
  const bool is_there = writer_ && file_->has_name();
  return taken_ - (is_there ? writer_->events_written() : 0);
}

Result<WrittenFile> TraceRecorder::write_set(const Profile& profile, Namer& namer,
                                             std::string_view run_json, bool last) {
  if (!writer_ && !error_) {
    keep_error(begin());
  }
  if (writer_) {
    keep_error(write_names_and_facts(profile, namer, run_json));
    keep_error(last && !error_ ? writer_->finish() : writer_->flush());
    if (!file_->has_name()) {
      keep_error(core::fail(fmt::format("writing {}: it was removed meanwhile", file_->path())));
    }
  }
  if (error_) {
    return tl::unexpected(*error_);
  }
  return WrittenFile{std::string(kFile), file_->path(), file_->size()};
}

Result<void> TraceRecorder::write_names_and_facts(const Profile& profile, Namer& namer,
                                                  std::string_view run_json) {
  if (auto written = write_tasks(profile); !written) {
    return written;
  }
  if (auto written = write_names(namer, 0); !written) {
    return written;
  }
  return writer_->write_facts(run_json, (core::Clock::now() - started_).count());
}

Result<void> TraceRecorder::write_tasks(const Profile& profile) {
  for (const core::ProcessSeen& process : profile.processes()) {
    if (auto added = writer_->add_process(process.process, process.parent, process.command);
        !added) {
      return added;
    }
  }
  for (const Profile::Thread& thread : profile.threads()) {
    const auto known = thread_numbers_.find(thread.id);
    if (known == thread_numbers_.end()) {
      continue;
    }
    if (auto added = writer_->add_thread(known->second, thread.id, threads_[known->second].process,
                                         thread.name, (thread.seen - started_).count());
        !added) {
      return added;
    }
  }
  return {};
}

Result<void> TraceRecorder::write_names(Namer& namer, std::uint32_t from) {
  for (std::uint32_t number = from; number < functions_.size(); ++number) {
    const Function& function = functions_[number];
    const symbols::NamedFrame& named = namer.name(function.traced.start, false).back();
    TraceFunction row;
    row.module = function.module;
    row.offset = function.traced.start.offset;
    row.size = function.traced.size;
    row.is_part = function.traced.is_part;
    row.id = id_of(function);
    row.name = named.function;
    if (named.source) {
      row.file = named.source->file;
      row.line = named.source->line;
    }
    if (since_) {
      row.since_ns = (*since_ - started_).count();
    }
    if (function.traced.until) {
      row.until_ns = (*function.traced.until - started_).count();
    }
    if (auto added = writer_->add_function(number, row); !added) {
      return added;
    }
    named_ = std::max(named_, number + 1);
  }
  return {};
}

void TraceRecorder::keep_error(const Result<void>& written) {
  if (!written && !error_) {
    error_ = written.error();
  }
}

void TraceRecorder::keep_and_say(const Result<void>& written) {
  keep_error(written);
  if (!written) {
    core::print_error(written.error().message() +
                      "; the run goes on, but its trace is not written further");
  }
}

}  // namespace sp::profiler
