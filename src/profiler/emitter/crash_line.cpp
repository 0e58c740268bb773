#include "profiler/emitter/crash_line.h"

#include <vector>

#include "profiler/crash/signal_names.h"
#include "profiler/emitter/emit_lines.h"
#include "profiler/formats/compact_json.h"

namespace sp::profiler {
namespace {

void write_signal(CompactJson& json, int pid, int signal) {
  json.key("pid").number(static_cast<std::uint64_t>(pid));
  json.key("signal").string(signal_name(signal));
  json.key("signal_number").number(static_cast<std::uint64_t>(signal));
}

void write_trace(CompactJson& json, const CrashThread& thread, TreeIds& ids, bool has_names) {
  std::vector<const CrashCall*> calls;
  for (const CrashCall& call : thread.calls) {
    if (!call.inlined) {
      calls.push_back(&call);
    }
  }
  json.key("stackTrace").open('[');
  for (std::size_t i = 0; i < calls.size(); ++i) {
    json.open('{');
    json.key("functionAddress").number(ids.address(calls[i]->start));
    // As in the tree: the place in the caller.
    if (i + 1 < calls.size() && calls[i + 1]->is_return_address) {
      json.key("callSiteAddress").number(ids.address(calls[i + 1]->where) - 1);
    }
    json.key("function").number(ids.function(calls[i]->start));
    if (has_names) {
      json.key("name").string(calls[i]->function);
    }
    json.close('}');
  }
  json.close(']');
}

}  // namespace

std::string crash_line(const NamedCrash& crash, TreeIds& ids, bool has_names) {
  return event_line([&](CompactJson& json) {
    write_signal(json, crash.pid, crash.signal.number);
    json.key("code").integer(crash.signal.code);
    json.key("address");
    crash.signal.address ? json.number(*crash.signal.address) : json.null();
    if (crash.threads.empty()) {
      return;
    }
    const CrashThread& first = crash.threads.front();
    if (!first.calls.empty()) {
      json.key("pc").number(ids.address(first.calls.front().where));
    }
    json.key("tid").number(static_cast<std::uint64_t>(first.tid));
    write_trace(json, first, ids, has_names);
    json.key("threads").open('[');
    for (std::size_t i = 1; i < crash.threads.size(); ++i) {
      json.open('{');
      json.key("tid").number(static_cast<std::uint64_t>(crash.threads[i].tid));
      json.key("name").string(crash.threads[i].name);
      write_trace(json, crash.threads[i], ids, has_names);
      json.close('}');
    }
    json.close(']');
  });
}

std::string killed_line(int pid, int signal) {
  return event_line([&](CompactJson& json) {
    write_signal(json, pid, signal);
    json.key("code").null();
    json.key("address").null();
    json.key("stackTrace").null();
    json.key("threads").null();
  });
}

}  // namespace sp::profiler
